import { expect, test } from 'vitest';
import { authorizer } from '../../functions/authorizer.ts';
import { callerOf } from '../../lib/access/caller.ts';
import { issueToken } from '../../lib/access/tokens/token.ts';
import { signingKey, verificationKeys } from '../../lib/access/tokens/token-keys.ts';
import { cachedFor } from '../../lib/aws/secrets.ts';
import type { HttpEvent } from '../../lib/http/endpoint.ts';
import { countedBy } from '../support/counted.ts';
import { jwks, keyPair } from '../support/keys.ts';
import { refused } from '../support/refused.ts';

const pair = await keyPair();
const scope = { issuer: 'issuer', audience: 'audience' };
const start = Date.UTC(2026, 10, 20, 12);
const subject = { userId: 'supervisor1001', clientId: 1001, permissions: ['BSP_CN'] };
const token = await issueToken(await signingKey(jwks(pair.private)), scope, {
  ...subject,
  tokenId: 'id',
  nowMs: start,
});

function authorizerAt(nowMs: number, read: () => Promise<string> = async () => jwks(pair.public)) {
  return authorizer({ verificationKeys: async () => verificationKeys(await read()), scope, nowMs: () => nowMs });
}

const request = (authorization?: string) => ({
  headers: authorization === undefined ? {} : { authorization },
  requestContext: { requestId: 'request-1' },
});

test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])(
  'a good token is let through, scheme spelled %s',
  async (scheme) => {
    const result = await authorizerAt(start)(request(`${scheme} ${token}`));
    expect(result).toEqual({
      isAuthorized: true,
      context: {
        verdict: 'authorized',
        userId: 'supervisor1001',
        clientId: '1001',
        permissions: 'BSP_CN',
        expiresAtSeconds: String(start / 1000 + 3_600),
      },
    });
  },
);

test.each([
  ['no header', undefined],
  ['an empty header', ''],
  ['the token alone', token],
  ['another scheme', `Basic ${token}`],
  ['the scheme alone', 'Bearer '],
  ['two headers joined', `Bearer ${token},Bearer ${token}`],
  ['something behind the token', `Bearer ${token} x`],
  ['no token of ours', 'Bearer abc.def.ghi'],
  ['a token over 8 KB', `Bearer ${token}${'x'.repeat(8_192)}`],
])('let through with the verdict that the endpoint answers with 401: %s (D2)', async (_, header) => {
  const result = await authorizerAt(start)(request(header));
  expect(result).toEqual({ isAuthorized: true, context: { verdict: 'unauthorized' } });
  const event = { requestContext: { authorizer: { lambda: result.context } } } as unknown as HttpEvent;
  expect(refused(() => callerOf(event, start))).toMatchObject({
    status: 401,
    code: 'unauthorized',
    message: 'Unauthorized',
  });
});

test('an expired token gets no yes; one that the gateway cached is refused by the endpoint (R34)', async () => {
  const late = await authorizerAt(start + 3_600_000)(request(`Bearer ${token}`));
  expect(late.context).toEqual({ verdict: 'unauthorized' });

  const cached = await authorizerAt(start + 3_599_000)(request(`Bearer ${token}`));
  const event = { requestContext: { authorizer: { lambda: cached.context } } } as unknown as HttpEvent;
  expect(callerOf(event, start + 3_599_999)).toMatchObject(subject);
  expect(() => callerOf(event, start + 3_600_000)).toThrow('Unauthorized');
});

test.each<readonly [string, () => Promise<string>]>([
  ['the secret cannot be read', () => Promise.reject(new Error('no connection'))],
  ['the secret is empty', async () => '{}'],
  ['the set is empty', async () => '{"keys":[]}'],
])('without key material nothing is allowed, and it is no fault of the caller: %s (R35)', async (_, read) => {
  const attempt = authorizerAt(start, read)(request(`Bearer ${token}`));
  await expect(attempt).rejects.toThrow(/no connection|not usable/);
});

test('only missing keys are counted as a failure of the authorizer, bad tokens are not', async () => {
  const broken = authorizerAt(start, () => Promise.reject(new Error('no connection')));
  expect(await countedBy(() => broken(request(`Bearer ${token}`)))).toMatchObject([{ AuthorizerFailures: 1 }]);
  expect(await countedBy(() => authorizerAt(start)(request('Bearer abc.def.ghi')))).toEqual([]);
});

test('keys are read once in five minutes; a failed reading is tried again at once', async () => {
  let nowMs = start;
  let reads = 0;
  let broken = true;
  const keys = cachedFor(
    300_000,
    () => nowMs,
    async () => {
      reads += 1;
      if (broken) throw new Error('no connection');
      return verificationKeys(jwks(pair.public));
    },
  );
  const authorize = authorizer({ verificationKeys: keys, scope, nowMs: () => nowMs });
  await expect(authorize(request(`Bearer ${token}`))).rejects.toThrow('no connection');
  broken = false;
  for (const afterMs of [0, 299_999, 300_000]) {
    nowMs = start + afterMs;
    expect(await authorize(request(`Bearer ${token}`))).toMatchObject({ isAuthorized: true });
  }
  expect(reads).toBe(3);
});
