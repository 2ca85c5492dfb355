import { describe, expect, it } from 'vitest';
import { edgeKeysOf } from '../../infra/edge.ts';
import { routes } from '../../infra/routes.ts';
import { edgeCertificateArn, edgePageTopicArn, edgeTicketTopicArn } from '../support/setting-choices.ts';
import { type Resource, type Stacks, stacksOf } from '../support/stack-templates.ts';

const service = stacksOf('whole');
const chosen = stacksOf('chosen');
const plainEdge = stacksOf('edge');

const only = (type: string, from: readonly Resource[] = service.edge) => {
  const [found, ...others] = from.filter((resource) => resource.type === type);
  expect(others).toEqual([]);
  return found?.properties;
};
const distribution = only('AWS::CloudFront::Distribution').DistributionConfig;
const resolved = (name: string) => `{{resolve:secretsmanager:template-messaging-test-${name}:SecretString}}`;

describe('the distribution', () => {
  it('answers at the public name, over TLS 1.2 and newer alone', () => {
    expect(distribution).toMatchObject({
      Enabled: true,
      Aliases: ['api.example.com'],
      IPV6Enabled: false,
      ViewerCertificate: {
        AcmCertificateArn: edgeCertificateArn,
        MinimumProtocolVersion: 'TLSv1.2_2021',
        SslSupportMethod: 'sni-only',
      },
    });
    expect(distribution.DefaultCacheBehavior.ViewerProtocolPolicy).toBe('https-only');
    expect(distribution).not.toHaveProperty('CacheBehaviors');
  });

  it('forwards every method with all headers of the viewer, the host too, and the viewer’s address', () => {
    const { AllowedMethods, OriginRequestPolicyId } = distribution.DefaultCacheBehavior;
    // Preflight requests pass the edge too, and it adds nothing to the API's answer (D52).
    expect(distribution.DefaultCacheBehavior).not.toHaveProperty('ResponseHeadersPolicyId');
    expect(AllowedMethods.toSorted()).toEqual(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);
    const policy = service.edge.find(({ id }) => id === service.target(OriginRequestPolicyId));
    expect(policy?.properties.OriginRequestPolicyConfig).toMatchObject({
      HeadersConfig: {
        HeaderBehavior: 'allViewerAndWhitelistCloudFront',
        Headers: ['CloudFront-Viewer-Address'],
      },
      QueryStringsConfig: { QueryStringBehavior: 'all' },
      CookiesConfig: { CookieBehavior: 'all' },
    });
  });

  it('keeps nothing: no answer, and no error, which it would keep for ten seconds whatever the answer says', () => {
    // This is the id of the managed policy CachingDisabled.
    expect(distribution.DefaultCacheBehavior.CachePolicyId).toBe('4135ea2d-6df8-44a3-9df3-4b5a84be39ad');
    const kept = distribution.CustomErrorResponses.map((each: Record<string, unknown>) => [
      each['ErrorCode'],
      each['ErrorCachingMinTTL'],
    ]);
    expect(kept).toEqual([400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504].map((code) => [code, 0]));
  });

  it('asks the API under its second name, over TLS, longer than the gateway waits', () => {
    expect(distribution.Origins).toEqual([
      expect.objectContaining({
        DomainName: 'origin.api.example.com',
        CustomOriginConfig: expect.objectContaining({
          OriginProtocolPolicy: 'https-only',
          OriginSSLProtocols: ['TLSv1.2'],
          OriginReadTimeout: 35,
        }),
        OriginCustomHeaders: [{ HeaderName: 'x-origin-key', HeaderValue: resolved('edge-key-1') }],
      }),
    ]);
  });

  it('has the public name for itself while it is there, beside the record of the API', () => {
    const records = service.all('AWS::Route53::RecordSet').map(({ properties }) => properties);
    const weights = records
      .filter(({ Name }) => Name === 'api.example.com')
      .map((each) => [each.SetIdentifier, each.Weight]);
    expect(weights).toEqual([
      ['api', 0],
      ['edge', 1],
    ]);
    expect(only('AWS::Route53::RecordSet').AliasTarget.HostedZoneId).toBe('Z2FDTNDATAQYW2');
  });

  it('makes no record where another name server has the name', () => {
    expect(plainEdge.all('AWS::Route53::RecordSet')).toEqual([]);
  });
});

describe('the rules', () => {
  const acl = only('AWS::WAFv2::WebACL');

  it('are those of the distribution', () => {
    expect(service.target(distribution.WebACLId)).toBe(
      service.edge.find(({ type }) => type === 'AWS::WAFv2::WebACL')?.id,
    );
    expect(acl).toMatchObject({ Scope: 'CLOUDFRONT', DefaultAction: { Allow: {} } });
  });

  it('count a minute of each address, and answer 429 as the API would', () => {
    for (const { Statement, Action } of acl.Rules) {
      expect(Statement.RateBasedStatement).toMatchObject({ AggregateKeyType: 'IP', EvaluationWindowSec: 60 });
      expect(Action.Block.CustomResponse).toEqual({
        ResponseCode: 429,
        CustomResponseBodyKey: 'slowed',
        ResponseHeaders: [{ Name: 'Retry-After', Value: '60' }],
      });
    }
    const { ContentType, Content } = acl.CustomResponseBodies.slowed;
    expect(ContentType).toBe('APPLICATION_JSON');
    expect(JSON.parse(Content)).toEqual({
      message: 'too many requests from this address',
      code: 'too_many_requests',
    });
  });

  it('are stricter for the login, however it is spelled, and looser for the webhook of the platform', () => {
    const limits = acl.Rules.map((rule: Record<string, unknown>) => [rule['Name'], rule['Priority'], limitOf(rule)]);
    expect(limits).toEqual([
      ['edge-login', 0, 60],
      ['edge-address', 1, 6_000],
      ['edge-webhook', 2, 30_000],
    ]);
    const [login, others, webhook] = acl.Rules.map(
      (rule: { Statement: { RateBasedStatement: { ScopeDownStatement: unknown } } }) =>
        rule.Statement.RateBasedStatement.ScopeDownStatement,
    );
    expect(login.ByteMatchStatement).toMatchObject({
      SearchString: '/login',
      PositionalConstraint: 'STARTS_WITH',
      TextTransformations: [{ Type: 'URL_DECODE' }, { Type: 'NORMALIZE_PATH' }, { Type: 'LOWERCASE' }],
    });
    expect(others.NotStatement.Statement.ByteMatchStatement).toMatchObject({
      SearchString: '/platform/webhook',
      PositionalConstraint: 'EXACTLY',
      TextTransformations: [{ Type: 'NONE' }],
    });
    // The two rate limits leave no request uncounted, and count none twice.
    expect(others.NotStatement.Statement).toEqual(webhook);
    expect(routes.map(({ path }) => path)).toEqual(expect.arrayContaining(['/login', '/platform/webhook']));
  });

  it('have the limits of the context, and never show a token', () => {
    expect(only('AWS::WAFv2::WebACL', chosen.edge).Rules.map(limitOf)).toEqual([120, 20_000, 90_000]);
    expect(JSON.stringify(acl)).not.toContain('"SampledRequestsEnabled":true');
  });

  function limitOf(rule: Record<string, unknown>): unknown {
    return (rule as { Statement: { RateBasedStatement: { Limit: unknown } } }).Statement.RateBasedStatement.Limit;
  }
});

const stageVariablesOf = (stacks: Stacks) =>
  only('AWS::ApiGatewayV2::Stage', stacks.stateless).StageVariables as unknown;

describe('the key', () => {
  const keysOf = ({ stateful }: Stacks) =>
    stateful.filter(({ properties }) => String(properties?.Name).includes('edge-key'));

  it('is made by Secrets Manager, kept, and there in the region of the edge', () => {
    const [key, ...others] = keysOf(service);
    expect(others).toEqual([]);
    expect(key).toMatchObject({
      type: 'AWS::SecretsManager::Secret',
      deletionPolicy: 'RetainExceptOnCreate',
      properties: {
        Name: 'template-messaging-test-edge-key-1',
        GenerateSecretString: { PasswordLength: 48, ExcludePunctuation: true },
        ReplicaRegions: {
          'Fn::If': ['ElsewhereThanTheEdge', [{ Region: 'us-east-1' }], { Ref: 'AWS::NoValue' }],
        },
      },
    });
  });

  it('is asked for by every function that the gateway calls, and told by its stage alone', () => {
    const operations = routes.map(({ operation }) => `template-messaging-test-${operation}`).sort();
    const guarded = service
      .all('AWS::Lambda::Function')
      .flatMap(({ properties }) =>
        properties.Environment?.Variables.BEHIND_EDGE === 'true' ? [properties.FunctionName] : [],
      );
    expect(guarded.sort()).toEqual(operations);
    expect(stageVariablesOf(service)).toEqual({ edgeKeys: resolved('edge-key-1') });
  });

  it('changes without a gap: what the edge shows before and after its turn is taken before and after that of the API', () => {
    for (const edgeKeyVersion of [1, 2, 3, 9]) {
      const [now, next] = [0, 1].map((more) => edgeKeysOf({ stage: 'test', edgeKeyVersion: edgeKeyVersion + more }));
      for (const shown of [now?.shown, next?.shown]) expect(now?.taken).toContain(shown);
      expect(next?.taken).toContain(next?.shown);
    }
  });

  it('is worth nothing when the version was raised twice', () => {
    const leaked = edgeKeysOf({ stage: 'test', edgeKeyVersion: 4 }).shown;
    expect(edgeKeysOf({ stage: 'test', edgeKeyVersion: 6 }).taken).not.toContain(leaked);
  });

  it('is two where it has been changed: the API takes both, the edge shows the one before', () => {
    expect(keysOf(chosen).map(({ properties }) => properties.Name)).toEqual([
      'template-messaging-test-edge-key-3',
      'template-messaging-test-edge-key-2',
    ]);
    expect(stageVariablesOf(chosen)).toEqual({ edgeKeys: `${resolved('edge-key-3')},${resolved('edge-key-2')}` });
    const { Origins } = only('AWS::CloudFront::Distribution', chosen.edge).DistributionConfig;
    expect(Origins[0].OriginCustomHeaders[0].HeaderValue).toBe(resolved('edge-key-2'));
  });

  it('is not referred to more often than CloudFormation allows in a template', () => {
    const references = JSON.stringify(chosen.stateless).match(/\{\{resolve:/g) ?? [];
    expect(references.length).toBe(2);
  });
});

describe('the stack', () => {
  it('is in the region of CloudFront, and protected like that of the API', () => {
    expect(service.standing('Edge')).toMatchObject({
      ...{ stackName: 'template-messaging-test-edge', region: 'us-east-1', terminationProtection: true },
    });
    expect(chosen.standing('Edge').terminationProtection).toBe(false);
  });

  it('is deployed when its key is there, and before the API asks for it', () => {
    expect(service.standing('Edge').after).toEqual(['Stateful']);
    expect(service.standing('Stateless').after).toEqual(expect.arrayContaining(['Stateful', 'Edge']));
  });

  it('is not there unless it is asked for, and neither are its keys', () => {
    const without = stacksOf('address');
    expect(without.edge).toEqual([]);
    expect(without.all('AWS::CloudFront::Distribution')).toEqual([]);
    expect(JSON.stringify([without.stateful, without.stateless])).not.toMatch(/edge-key|edgeKeys|BEHIND_EDGE/);
  });
});

describe('the alarms', () => {
  const alarmsOf = ({ edge }: Stacks) =>
    edge.filter(({ type }) => type === 'AWS::CloudWatch::Alarm').map(({ properties }) => properties);

  it('count what each rule refuses, and ring at as much again as an address is allowed in that time', () => {
    const { Rules, VisibilityConfig } = only('AWS::WAFv2::WebACL', chosen.edge);
    const metricOf = (name: string) =>
      Rules.find((rule: Record<string, unknown>) => rule['Name'] === name).VisibilityConfig.MetricName;
    const shown = alarmsOf(chosen)
      .filter(({ MetricName }) => MetricName === 'BlockedRequests')
      .map(({ Dimensions, Threshold, Namespace }) => [
        Namespace,
        Object.fromEntries(Dimensions.map(({ Name, Value }: { Name: string; Value: string }) => [Name, Value])),
        Threshold,
      ]);
    const WebACL = VisibilityConfig.MetricName;
    expect(shown).toEqual([
      ['AWS/WAFV2', { WebACL, Rule: metricOf('edge-address') }, 5 * 20_000],
      ['AWS/WAFV2', { WebACL, Rule: metricOf('edge-webhook') }, 5 * 90_000],
      ['AWS/WAFV2', { WebACL, Rule: metricOf('edge-login') }, 5 * 120],
    ]);
  });

  it('ring for a share of failures only where there is enough to take a share of', () => {
    const [math, ...metrics] = alarmsOf(service).find(({ AlarmName }) => AlarmName.endsWith('edge-5xx-share')).Metrics;
    expect(math.Expression).toBe('IF(FILL(requests, 0) >= 100, FILL(share, 0), 0)');
    const shown = metrics.map(
      ({
        Id,
        MetricStat,
      }: {
        Id: string;
        MetricStat: { Metric: { Dimensions: { Name: string; Value: unknown }[] } };
      }) => {
        const [distributionOf, region] = MetricStat.Metric.Dimensions;
        return [Id, service.edge.find(({ id }) => id === service.target(distributionOf?.Value))?.type, region?.Value];
      },
    );
    expect(shown).toEqual([
      ['requests', 'AWS::CloudFront::Distribution', 'Global'],
      ['share', 'AWS::CloudFront::Distribution', 'Global'],
    ]);
  });

  it('notify the topic of their region, also the topic of all others when it is in that region, and no other topic', () => {
    const told = (stacks: Stacks) => alarmsOf(stacks).map((alarm) => alarm.AlarmActions);
    const topics = [[edgePageTopicArn], [edgeTicketTopicArn], [edgeTicketTopicArn], [edgeTicketTopicArn]];
    for (const stacks of [service, chosen]) expect(told(stacks)).toEqual(topics);
    expect(told(plainEdge)).toEqual([undefined, undefined, undefined, undefined]);
  });
});
