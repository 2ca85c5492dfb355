import { describe, expect, it } from 'vitest';
import { edgeKeysOf } from '../../infra/edge.ts';
import { routes } from '../../infra/routes.ts';
import { stacksOf } from '../support/stack-templates.ts';

/* What templates/whole-beyond-address.txt, which has the edge as it is, cannot say by itself. */

const service = stacksOf('whole');
const [acl] = service.edge.flatMap(({ type, properties }) => (type === 'AWS::WAFv2::WebACL' ? [properties] : []));

it('keeps no answer, and no error, which CloudFront would keep for ten seconds and give to another client', () => {
  const [config] = service.all('AWS::CloudFront::Distribution').map(({ properties }) => properties.DistributionConfig);
  // This is the id of the managed policy CachingDisabled.
  expect(config.DefaultCacheBehavior.CachePolicyId).toBe('4135ea2d-6df8-44a3-9df3-4b5a84be39ad');
  expect(config).not.toHaveProperty('CacheBehaviors');
  expect(config.CustomErrorResponses).toEqual(
    [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504].map((ErrorCode) => ({ ErrorCode, ErrorCachingMinTTL: 0 })),
  );
});

describe('the rules', () => {
  it('leave no request uncounted, and count none but a login twice', () => {
    const [, others, webhook] = acl.Rules.map(
      (rule: { Statement: { RateBasedStatement: { ScopeDownStatement: unknown } } }) =>
        rule.Statement.RateBasedStatement.ScopeDownStatement,
    );
    expect(others.NotStatement.Statement).toEqual(webhook);
    expect(webhook.ByteMatchStatement.PositionalConstraint).toBe('EXACTLY');
    expect(routes.map(({ path }) => path)).toEqual(expect.arrayContaining(['/login', '/platform/webhook']));
  });

  it('never show a token', () => {
    expect(JSON.stringify(acl)).not.toContain('"SampledRequestsEnabled":true');
  });
});

describe('the key', () => {
  it('is asked for by every function that the gateway calls', () => {
    const guarded = service
      .all('AWS::Lambda::Function')
      .flatMap(({ properties }) =>
        properties.Environment?.Variables.BEHIND_EDGE === 'true' ? [properties.FunctionName] : [],
      );
    const operations = routes.map(({ operation }) => `template-messaging-test-${operation}`);
    expect(guarded.toSorted()).toEqual(operations.toSorted());
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

  it('is not referred to more often than CloudFormation allows in a template', () => {
    expect(JSON.stringify(stacksOf('chosen').stateless).match(/\{\{resolve:/g)).toHaveLength(2);
  });
});

it('there is no edge unless it is asked for, and no key of one', () => {
  const without = stacksOf('address');
  expect(without.edge).toEqual([]);
  expect(JSON.stringify([without.stateful, without.stateless])).not.toMatch(/edge-key|edgeKeys|BEHIND_EDGE/);
});
