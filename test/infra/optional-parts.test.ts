import { describe, expect, it } from 'vitest';
import { resourceName } from '../../infra/names.ts';
import { headers } from '../../infra/openapi/headers.ts';
import { operations } from '../../infra/openapi/operations/all.ts';
import { decodeSync, encodeSync } from '../../lib/templates/sync/sync-message.ts';
import { settingChoices } from '../support/setting-choices.ts';
import { type Stacks, stacksOf } from '../support/stack-templates.ts';

/* These resources exist only where a setting asks for them. */

const plain = stacksOf('plain');
const service = stacksOf('whole');
const address = stacksOf('address');

const configurationOf = (stacks: Stacks) => stacks.all('AWS::ApiGatewayV2::Api')[0]?.properties.CorsConfiguration;

describe('CORS (D52)', () => {
  const configuration = configurationOf(service);

  it('lets pages of these origins call every route, and see what answers say in headers', () => {
    expect(configuration).toEqual({
      AllowOrigins: ['https://app.example.com', 'http://localhost:5173'],
      AllowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      AllowHeaders: [
        ...['Authorization', 'Content-Type', 'Dry-Run', 'Idempotency-Key', 'Max-Cost', 'Webhook-Secret-Rotate'],
        ...['Send-At', 'Send-Days', 'Send-Window', 'Send-Zone'],
      ],
      ExposeHeaders: [
        'Dispatch-Id',
        'Webhook-Secret',
        'Template-Warning',
        'Link',
        'X-Request-Id',
        'Retry-After',
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
        'X-RateLimit-Reset',
      ],
      MaxAge: 600,
    });
    const keys = service.all('AWS::ApiGatewayV2::Route').map(({ properties }) => String(properties.RouteKey));
    const methods = new Set(keys.map((key) => key.split(' ')[0]));
    expect([...methods].toSorted()).toEqual(configuration.AllowMethods.toSorted());
  });

  it('names every header that clients send or see by the document, and no other', () => {
    const { AllowHeaders, ExposeHeaders } = configuration;
    const asked = Object.entries(operations).flatMap(([name, operation]) =>
      name.startsWith('platform-') ? [] : Object.keys(operation.headers?.entries ?? {}),
    );
    expect(AllowHeaders.toSorted()).toEqual([...new Set(['Authorization', 'Content-Type', ...asked])].toSorted());
    // Browsers always expose Cache-Control. Pages need none of the others: WWW-Authenticate says nothing new, and the
    // rest belong to redirects and the platform's handshake.
    const hidden = ['Cache-Control', 'Location', 'WWW-Authenticate', 'X-Content-Type-Options'];
    expect(ExposeHeaders.toSorted()).toEqual(
      Object.keys(headers)
        .filter((name) => !hidden.includes(name))
        .toSorted(),
    );
  });

  it('has no route for preflight requests: the gateway answers them without the authorizer', () => {
    const keys = service.all('AWS::ApiGatewayV2::Route').map(({ properties }) => String(properties.RouteKey));
    expect(keys.filter((key) => /^(?:OPTIONS|ANY) /.test(key))).toEqual([]);
  });
});

describe('the public address', () => {
  const { certificateArn, hostedZoneId } = settingChoices.address;
  const only = (type: string, stack = address.stateful) => {
    const [found, ...others] = stack.filter((resource) => resource.type === type);
    expect(others).toEqual([]);
    return found;
  };
  const recordOf = (name: string) =>
    address.all('AWS::Route53::RecordSet').find(({ properties }) => properties.Name === name);

  it('is state: it stays when the stack of the API goes, and when its own does', () => {
    for (const resource of [only('AWS::ApiGatewayV2::DomainName'), ...address.all('AWS::Route53::RecordSet')]) {
      expect(resource).toMatchObject({ deletionPolicy: 'RetainExceptOnCreate', updateReplacePolicy: 'Retain' });
    }
    expect(only('AWS::ApiGatewayV2::DomainName')?.properties).toMatchObject({
      DomainName: 'api.example.com',
      DomainNameConfigurations: [
        { CertificateArn: certificateArn, EndpointType: 'REGIONAL', SecurityPolicy: 'TLS_1_2' },
      ],
    });
  });

  it('has a record that leads to it and leaves room for another', () => {
    const domain = only('AWS::ApiGatewayV2::DomainName')?.id;
    expect(recordOf('api.example.com')?.properties).toEqual({
      Name: 'api.example.com',
      Type: 'A',
      HostedZoneId: hostedZoneId,
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
    const without = stacksOf('edge');
    expect(without.all('AWS::Route53::RecordSet')).toEqual([]);
    expect(without.all('AWS::ApiGatewayV2::DomainName').length).toBe(1);
  });

  it('is the only one that the API answers at', () => {
    expect(only('AWS::ApiGatewayV2::Api', address.stateless)?.properties.DisableExecuteApiEndpoint).toBe(true);
    const mapping = only('AWS::ApiGatewayV2::ApiMapping', address.stateless);
    const stage = only('AWS::ApiGatewayV2::Stage', address.stateless);
    expect(mapping?.properties).toMatchObject({ DomainName: 'api.example.com', Stage: '$default' });
    expect(mapping?.dependsOn).toContain(stage?.id);
  });

  it('is told as the address of the interface, and redirects are on it', () => {
    expect(address.output('ApiUrl')).toBe('https://api.example.com');
    expect(redirectBasesOf(address)).toEqual(['https://api.example.com/r']);
    expect(redirectBasesOf(service)).toEqual(['https://go.example.com']);
  });

  it('is the one of API Gateway where no name is given', () => {
    const [api] = plain.all('AWS::ApiGatewayV2::Api');
    expect(api?.properties).not.toHaveProperty('DisableExecuteApiEndpoint');
    for (const type of ['DomainName', 'ApiMapping']) expect(plain.all(`AWS::ApiGatewayV2::${type}`)).toEqual([]);
    expect(JSON.stringify(plain.output('ApiUrl'))).toContain('ApiEndpoint');
  });
});

describe('scheduled synchronization', () => {
  it('is off by default', () => {
    expect(plain.all('AWS::Scheduler::Schedule')).toEqual([]);
  });

  it('runs when it is told', () => {
    const [schedule, ...others] = service.all('AWS::Scheduler::Schedule');
    expect(others).toEqual([]);
    expect(schedule?.properties).toMatchObject({
      ScheduleExpression: settingChoices.whole.syncSchedule,
      FlexibleTimeWindow: { Mode: 'OFF' },
    });
    const { Arn, Input, RoleArn } = schedule?.properties.Target ?? {};
    const queue = service
      .all('AWS::SQS::Queue')
      .find(({ properties }) => properties.QueueName === resourceName('test', 'sync'));
    expect(service.target(Arn)).toBe(queue?.id);
    expect(decodeSync(Input)).toMatchObject({ walk: { turn: 0, after: 0 } });
    // The code encodes the same version (D47).
    expect(JSON.parse(Input).version).toBe(JSON.parse(encodeSync(decodeSync(Input))).version);

    const role = service.all('AWS::IAM::Role').find(({ id }) => id === service.target(RoleArn));
    expect(role?.properties.AssumeRolePolicyDocument.Statement).toMatchObject([
      { Action: 'sts:AssumeRole', Principal: { Service: 'scheduler.amazonaws.com' } },
    ]);
    const statements = role?.properties.Policies.flatMap(
      ({ PolicyDocument }: { PolicyDocument: { Statement: unknown[] } }) => PolicyDocument.Statement,
    );
    expect(statements).toEqual([{ Effect: 'Allow', Action: 'sqs:SendMessage', Resource: Arn }]);
  });
});

describe('refreshing the price rates', () => {
  const named = (stacks: Stacks) =>
    stacks
      .all('AWS::Lambda::Function')
      .filter(({ properties }) => properties.FunctionName === resourceName('test', 'pricing-refresh'));

  it('is not there without a source', () => {
    expect(named(plain)).toEqual([]);
    const rules = plain.all('AWS::Events::Rule').map(({ properties }) => properties.Name);
    expect(rules).toEqual([resourceName('test', 'messages-sweep')]);
  });

  it('is called twice a day and has an alarm that names the affected users and the next step', () => {
    const [refresh] = named(service);
    expect(refresh?.properties.Environment.Variables.RATE_SOURCE_URL).toBe(settingChoices.whole.rateSourceUrl);
    const rule = service
      .all('AWS::Events::Rule')
      .find(({ properties }) => properties.Name === resourceName('test', 'pricing-refresh'));
    expect(rule?.properties).toMatchObject({ ScheduleExpression: 'rate(12 hours)', State: 'ENABLED' });
    expect(rule?.properties.Targets.map(({ Arn }: { Arn: unknown }) => service.target(Arn))).toEqual([refresh?.id]);
    const alarm = service
      .all('AWS::CloudWatch::Alarm')
      .find(({ properties }) => properties.AlarmName === resourceName('test', 'pricing-refresh-errors'));
    expect(alarm?.properties).toMatchObject({
      MetricName: 'Errors',
      Threshold: 0,
      AlarmDescription: expect.stringMatching(/last good rates.*pricing\.refresh_failed/s),
    });
    expect(service.target(alarm?.properties.Dimensions[0].Value)).toBe(refresh?.id);
  });
});

it('the backlog is swept every minute (D25, D56)', () => {
  const named = (name: string) =>
    plain.all('AWS::Lambda::Function').find(({ properties }) => properties.FunctionName === resourceName('test', name));
  const rule = plain
    .all('AWS::Events::Rule')
    .find(({ properties }) => properties.Name === resourceName('test', 'messages-sweep'));
  expect(rule?.properties).toMatchObject({ ScheduleExpression: 'rate(1 minute)', State: 'ENABLED' });
  const targets = rule?.properties.Targets.map(({ Arn }: { Arn: unknown }) => plain.target(Arn));
  expect(targets).toEqual([named('messages-sweep')?.id]);
  const alarms = plain.all('AWS::CloudWatch::Alarm').map(({ properties }) => properties.AlarmName);
  const wanted = ['sweep-errors', 'sweep-missing', 'backlog-overdue'].map((purpose) => resourceName('test', purpose));
  expect(alarms).toEqual(expect.arrayContaining(wanted));
});

function redirectBasesOf({ all }: Stacks): unknown[] {
  const bases = all('AWS::Lambda::Function').map(
    ({ properties }) => properties.Environment?.Variables.REDIRECT_BASE_URL,
  );
  return [...new Set(bases)].filter((base) => base !== undefined);
}
