import { describe, expect, it } from 'vitest';
import { serviceApp } from '../../infra/service.ts';
import { stubBundles, synthesize } from '../support/synthesized.ts';

const address = {
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/0a1b-2c3d',
  hostedZoneId: 'Z0123456789ABC',
};
const service = synthesize({ stage: 'test', ...address });
const only = (type: string, stack = service.stateful) => {
  const found = stack.filter((resource) => resource.type === type);
  expect(found.length).toBe(1);
  return found[0];
};
const recordOf = (name: string) =>
  service.all('AWS::Route53::RecordSet').find(({ properties }) => properties.Name === name);

describe('the public address', () => {
  it('is state: it stays when the stack of the API goes, and when its own does', () => {
    for (const resource of [only('AWS::ApiGatewayV2::DomainName'), ...service.all('AWS::Route53::RecordSet')]) {
      expect(resource).toMatchObject({ deletionPolicy: 'RetainExceptOnCreate', updateReplacePolicy: 'Retain' });
    }
    expect(only('AWS::ApiGatewayV2::DomainName')?.properties).toMatchObject({
      DomainName: 'api.example.com',
      DomainNameConfigurations: [
        { CertificateArn: address.certificateArn, EndpointType: 'REGIONAL', SecurityPolicy: 'TLS_1_2' },
      ],
    });
  });

  it('has a record that leads to it and leaves room for another', () => {
    const domain = only('AWS::ApiGatewayV2::DomainName')?.id;
    expect(recordOf('api.example.com')?.properties).toEqual({
      Name: 'api.example.com',
      Type: 'A',
      HostedZoneId: address.hostedZoneId,
      AliasTarget: {
        DNSName: { 'Fn::GetAtt': [domain, 'RegionalDomainName'] },
        HostedZoneId: { 'Fn::GetAtt': [domain, 'RegionalHostedZoneId'] },
      },
      SetIdentifier: 'api',
      Weight: 0,
    });
  });

  it('has a second name, under which an edge finds the API when the first one leads to the edge', () => {
    const { SetIdentifier: _, Weight: __, ...plain } = recordOf('api.example.com')?.properties ?? {};
    expect(recordOf('origin.api.example.com')?.properties).toEqual({ ...plain, Name: 'origin.api.example.com' });
  });

  it('has none where another name server has the name, which the stack tells what to lead to', () => {
    const { hostedZoneId: _, ...elsewhere } = address;
    const without = synthesize(elsewhere);
    expect(without.all('AWS::Route53::RecordSet')).toEqual([]);
    expect(without.all('AWS::ApiGatewayV2::DomainName').length).toBe(1);
  });

  it('is the only one that the API answers at', () => {
    expect(only('AWS::ApiGatewayV2::Api', service.stateless)?.properties.DisableExecuteApiEndpoint).toBe(true);
    const mapping = only('AWS::ApiGatewayV2::ApiMapping', service.stateless);
    const stage = only('AWS::ApiGatewayV2::Stage', service.stateless);
    expect(mapping?.properties).toMatchObject({ DomainName: 'api.example.com', Stage: '$default' });
    expect(mapping?.dependsOn).toContain(stage?.id);
  });

  it('is told as the address of the interface, and redirects are on it', () => {
    expect(service.output('ApiUrl')).toBe('https://api.example.com');
    expect(redirectBasesOf(service)).toEqual(['https://api.example.com/r']);
    expect(redirectBasesOf(synthesize({ ...address, redirectBaseUrl: 'https://go.example.com' }))).toEqual([
      'https://go.example.com',
    ]);
  });

  it('is the one of API Gateway where no name is given', () => {
    const without = synthesize();
    const [api] = without.all('AWS::ApiGatewayV2::Api');
    expect(api?.properties).not.toHaveProperty('DisableExecuteApiEndpoint');
    for (const type of ['DomainName', 'ApiMapping']) expect(without.all(`AWS::ApiGatewayV2::${type}`)).toEqual([]);
    expect(JSON.stringify(without.output('ApiUrl'))).toContain('ApiEndpoint');
  });
});

describe('half a public address', () => {
  it.each([
    ['certificateArn', 'domainName'],
    ['hostedZoneId', 'domainName'],
    ['domainName', 'certificateArn'],
  ] as const)('%s alone is refused in one sentence', (name, other) => {
    expect(() => synthesize({ [name]: address[name] })).toThrow(`the context value ${name} needs ${other} beside it`);
  });

  const synthesizedFor = (region: string | undefined) => () => {
    const { done, ...places } = stubBundles();
    try {
      serviceApp({ ...places, region, context: address });
    } finally {
      done();
    }
  };

  it('is a certificate of another region', () => {
    expect(synthesizedFor('eu-central-1')).toThrow(
      'the context value certificateArn names a certificate in eu-west-1, and the stacks go to eu-central-1',
    );
    for (const region of ['eu-west-1', undefined]) expect(synthesizedFor(region)).not.toThrow();
  });
});

function redirectBasesOf({ all }: typeof service): unknown[] {
  const bases = all('AWS::Lambda::Function').map(
    ({ properties }) => properties.Environment?.Variables.REDIRECT_BASE_URL,
  );
  return [...new Set(bases)].filter((base) => base !== undefined);
}
