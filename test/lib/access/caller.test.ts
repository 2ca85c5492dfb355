import fc from 'fast-check';
import { expect, test } from 'vitest';
import { authorizerContext, unauthorizedContext } from '../../../lib/access/authorizer-context.ts';
import { callerOf } from '../../../lib/access/caller.ts';
import type { HttpEvent } from '../../../lib/http/endpoint.ts';
import { refused } from '../../support/refused.ts';

const expiresAtSeconds = 1_800_000_000;
const nowMs = expiresAtSeconds * 1000 - 1;
const good = {
  verdict: 'authorized',
  userId: 'supervisor1001',
  clientId: '1001',
  permissions: 'BSP_CN OTHER',
  expiresAtSeconds: '1800000000',
};

/** The gateway sends no context with a route that has no authorizer. */
function eventWith(context?: Readonly<Record<string, unknown>>): HttpEvent {
  const requestContext = context === undefined ? {} : { authorizer: { lambda: context } };
  return { requestContext } as unknown as HttpEvent;
}

test('the caller is who the authorizer verified', () => {
  const token = { userId: 'supervisor1001', clientId: 1001, permissions: ['BSP_CN', 'OTHER'] };
  const caller = { ...token, crossClient: true };
  expect(callerOf(eventWith(good), nowMs)).toEqual(caller);
  // A context that another version's authorizer wrote stays readable: its spelling never changes, and unknown members
  // are ignored (D47).
  expect(authorizerContext({ ...token, expiresAtSeconds })).toEqual(good);
  expect(callerOf(eventWith({ ...good, later: 'x' }), nowMs)).toEqual(caller);
  expect(unauthorizedContext).toEqual({ verdict: 'unauthorized' });
});

test('only BSP_CN, spelled exactly, crosses clients', () => {
  for (const permissions of ['', 'OTHER', 'bsp_cn', 'BSP_CN2', 'X_BSP_CN']) {
    expect(callerOf(eventWith({ ...good, permissions }), nowMs).crossClient, permissions).toBe(false);
  }
});

test('a token that has expired since the gateway cached it is refused (D3, R34)', () => {
  expect(refused(() => callerOf(eventWith(good), nowMs + 1))).toMatchObject({ status: 401, message: 'Unauthorized' });
});

test.each<readonly [string, Readonly<Record<string, unknown>> | undefined]>([
  ['no authorizer', undefined],
  ['an empty context', {}],
  ["the authorizer's no", { verdict: 'unauthorized' }],
  ["the authorizer's no, with all that a yes has", { ...good, verdict: 'unauthorized' }],
  ['no verdict', { ...good, verdict: undefined }],
  ['a verdict that is no text', { ...good, verdict: true }],
  ['a verdict in other letters', { ...good, verdict: 'Authorized' }],
  ['no user', { ...good, userId: '' }],
  ['no client', { ...good, clientId: undefined }],
  ['a client that is not a number', { ...good, clientId: '1e3' }],
  ['a client beyond safe integers', { ...good, clientId: '9007199254740993' }],
  ['no permissions', { ...good, permissions: undefined }],
  ['no expiry', { ...good, expiresAtSeconds: undefined }],
  ['an expiry that is not a number', { ...good, expiresAtSeconds: 'NaN' }],
  ['an expiry with a sign', { ...good, expiresAtSeconds: '-1' }],
])('refused with 401: %s', (_, context) => {
  expect(refused(() => callerOf(eventWith(context), nowMs)).code).toBe('unauthorized');
});

test('whatever a token says arrives unchanged, as text on the way', () => {
  const token = fc.record({
    userId: fc.string({ minLength: 1 }),
    clientId: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    permissions: fc.array(fc.stringMatching(/^[A-Z][A-Z0-9_]{0,20}$/)),
    expiresAtSeconds: fc.integer({ min: expiresAtSeconds, max: 4_000_000_000 }),
  });
  fc.assert(
    fc.property(token, (verified) => {
      const context = authorizerContext(verified);
      expect(Object.values(context).every((value) => typeof value === 'string')).toBe(true);
      const { userId, clientId, permissions } = callerOf(eventWith(context), nowMs);
      expect({ userId, clientId, permissions }).toEqual({
        userId: verified.userId,
        clientId: verified.clientId,
        permissions: verified.permissions,
      });
    }),
  );
});
