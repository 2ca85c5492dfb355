import { describe, expect, it } from 'vitest';
import { createAuthorizer } from '../../../infra/local/authorizer.ts';
import { httpEvent } from '../../../infra/local/http-event.ts';
import type { InvocationResult } from '../../../infra/local/invocation-result.ts';

interface Setup {
  readonly results: readonly InvocationResult[];
  readonly identitySources?: readonly string[];
  readonly cacheTtlSeconds?: number;
}

/** The authorizer's function returns the given results in turn, on the test's clock. */
function setup({ results, identitySources = ['$request.header.Authorization'], cacheTtlSeconds = 60 }: Setup) {
  const clock = { nowMs: 1_000_000 };
  const asked: unknown[] = [];
  const authorize = createAuthorizer({
    definition: { functionId: 'Authorizer', identitySources, cacheTtlSeconds },
    region: 'us-east-1',
    nowMs: () => clock.nowMs,
    ask: async (event) => {
      const result = results[Math.min(asked.length, results.length - 1)];
      asked.push(event);
      if (result === undefined) throw new Error('the test gave no result');
      return result;
    },
  });
  return { clock, asked, authorize };
}

function makeEvent(overrides: { token?: string; routeKey?: string; rawQueryString?: string } = {}) {
  return httpEvent(
    {
      method: 'GET',
      rawPath: '/v1/templates',
      rawQueryString: overrides.rawQueryString ?? '',
      protocol: 'HTTP/1.1',
      rawHeaders: overrides.token === undefined ? [] : ['Authorization', overrides.token],
      body: Buffer.alloc(0),
      sourceIp: '127.0.0.1',
    },
    { routeKey: overrides.routeKey ?? 'GET /v1/templates', pathParameters: {}, requestId: 'r', nowMs: 0 },
  );
}

const allow: InvocationResult = { ok: true, payload: { isAuthorized: true, context: { clientId: '1001' } } };
const deny: InvocationResult = { ok: true, payload: { isAuthorized: false } };
const thrown: InvocationResult = { ok: false, error: 'threw', message: 'Unauthorized' };

describe('the verdict', () => {
  it.each<[string, InvocationResult, unknown]>([
    ['an allowing answer', allow, { kind: 'allowed', context: { clientId: '1001' } }],
    [
      'an allowing answer without context',
      { ok: true, payload: { isAuthorized: true } },
      { kind: 'allowed', context: null },
    ],
    ['a denying answer', deny, { kind: 'forbidden' }],
    ['a thrown Unauthorized', thrown, { kind: 'failed' }],
    ['a crash', { ok: false, error: 'crashed', message: 'Unauthorized' }, { kind: 'failed' }],
    ['a time-out', { ok: false, error: 'timeout', message: '' }, { kind: 'failed' }],
    ['the text "true"', { ok: true, payload: { isAuthorized: 'true' } }, { kind: 'failed' }],
    ['the text "false"', { ok: true, payload: { isAuthorized: 'false' } }, { kind: 'failed' }],
    ['the number 1', { ok: true, payload: { isAuthorized: 1 } }, { kind: 'failed' }],
    ['null', { ok: true, payload: null }, { kind: 'failed' }],
    ['a policy', { ok: true, payload: { principalId: 'me', policyDocument: {} } }, { kind: 'failed' }],
  ])('%s (R35)', async (_name, result, verdict) => {
    const { authorize } = setup({ results: [result] });
    expect(await authorize(makeEvent({ token: 'Bearer a' }))).toEqual(verdict);
  });

  it.each([undefined, ''])('is unauthorized without asking when the identity source is %s', async (token) => {
    const { authorize, asked } = setup({ results: [allow] });
    expect(await authorize(makeEvent(token === undefined ? {} : { token }))).toEqual({ kind: 'unauthorized' });
    expect(asked).toEqual([]);
  });
});

describe('the cache of results', () => {
  it('serves the same identity until the TTL has passed, on every route', async () => {
    const { authorize, asked, clock } = setup({ results: [allow, deny] });
    expect(await authorize(makeEvent({ token: 'Bearer a' }))).toMatchObject({ kind: 'allowed' });
    clock.nowMs += 59_999;
    expect(await authorize(makeEvent({ token: 'Bearer a', routeKey: 'GET /other' }))).toMatchObject({
      kind: 'allowed',
    });
    expect(asked).toHaveLength(1);
    clock.nowMs += 1;
    expect(await authorize(makeEvent({ token: 'Bearer a' }))).toEqual({ kind: 'forbidden' });
    expect(asked).toHaveLength(2);
  });

  it('keeps denials, and keeps identities apart', async () => {
    const { authorize, asked } = setup({ results: [deny, allow] });
    expect(await authorize(makeEvent({ token: 'Bearer a' }))).toEqual({ kind: 'forbidden' });
    expect(await authorize(makeEvent({ token: 'Bearer b' }))).toMatchObject({ kind: 'allowed' });
    expect(await authorize(makeEvent({ token: 'Bearer a' }))).toEqual({ kind: 'forbidden' });
    expect(asked).toHaveLength(2);
  });

  it('keeps no failure', async () => {
    const { authorize, asked } = setup({ results: [thrown, allow] });
    expect(await authorize(makeEvent({ token: 'Bearer a' }))).toEqual({ kind: 'failed' });
    expect(await authorize(makeEvent({ token: 'Bearer a' }))).toMatchObject({ kind: 'allowed' });
    expect(asked).toHaveLength(2);
  });

  it.each([
    ['the TTL is 0', { cacheTtlSeconds: 0 }],
    ['there is no identity source', { identitySources: [] }],
  ])('keeps nothing when %s', async (_name, definition) => {
    const { authorize, asked } = setup({ results: [allow, deny], ...definition });
    expect(await authorize(makeEvent({ token: 'Bearer a' }))).toMatchObject({ kind: 'allowed' });
    expect(await authorize(makeEvent({ token: 'Bearer a' }))).toEqual({ kind: 'forbidden' });
    expect(asked).toHaveLength(2);
  });

  it('is per route when the route key is an identity source', async () => {
    const identitySources = ['$request.querystring.key', '$context.routeKey'];
    const { authorize, asked } = setup({ results: [allow, deny], identitySources });
    await authorize(makeEvent({ rawQueryString: 'key=1', routeKey: 'GET /a' }));
    const other = await authorize(makeEvent({ rawQueryString: 'key=1', routeKey: 'GET /b' }));
    expect(other).toEqual({ kind: 'forbidden' });
    expect(asked).toMatchObject([{ identitySource: ['1', 'GET /a'] }, { identitySource: ['1', 'GET /b'] }]);
  });
});

it('refuses at start-up an identity source it cannot read', () => {
  expect(() => setup({ results: [allow], identitySources: ['$stageVariables.key'] })).toThrow('$stageVariables.key');
});
