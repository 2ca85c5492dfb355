import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { routes } from '../../infra/routes.ts';
import { windowOf } from '../../lib/access/budget/lease.ts';
import { leaseStore } from '../../lib/access/budget/lease-store.ts';
import type { Spender } from '../../lib/access/client-budget.ts';
import { issueToken } from '../../lib/access/tokens/token.ts';
import { signingKey } from '../../lib/access/tokens/token-keys.ts';
import { api, eventually, tokenOf } from '../support/api.ts';
import { runningTarget } from '../support/running-target.ts';

const target = runningTarget();
const route = 'GET /v1/pricing?market=AR&category=Marketing';

/** Returns a token of a client that no other test uses. */
async function tokenOfClient(clientId: number): Promise<string> {
  const signing = await signingKey((await target.secrets.read(target.secretName('TOKEN_SIGNING_KEYS_SECRET'))) ?? '');
  const [, payload = ''] = (await tokenOf('supervisor1001')).split('.');
  const { iss, aud } = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const claims = { userId: 'u-1', clientId, permissions: [], tokenId: randomUUID(), nowMs: Date.now() };
  return issueToken(signing, { issuer: iss, audience: aud }, claims);
}

const counters = leaseStore(target.documentClient, target.tableName('budgets'));

/** Spends so many requests of a user in this minute and in the next, because a minute may end meanwhile. */
async function spent(spender: Spender, size: number): Promise<void> {
  const window = windowOf(Date.now());
  for (const each of [window, window + 1]) {
    await counters.lease({ ...spender, window: each }, size, { half: size, evenAll: true });
  }
}

// The half that a busy user leaves to others is in test/lib/access/budget/ and test/functions/caller-first.test.ts.
test('a client that has used up its minute is told when the next begins, and no other client notices (D54)', async () => {
  const clientId = 1_099;
  const token = await tokenOfClient(clientId);
  const first = await api(route, { token });
  expect(first.status).toBe(200);
  const limit = Number(first.headers.get('x-ratelimit-limit'));
  expect(limit).toBeGreaterThan(0);
  expect(Number(first.headers.get('x-ratelimit-remaining'))).toBeLessThanOrEqual(limit);
  expect(first.headers.get('x-ratelimit-reset')).toMatch(/^([1-9]|[1-5]\d|60)$/);

  // Ten thousands of requests would have leased so much in this minute and in the next.
  await spent({ clientId, userId: 'u-1' }, limit);

  const refused = await eventually('the budget is used up', async () => {
    const reply = await api(route, { token });
    return reply.status === 429 ? reply : undefined;
  });
  const reset = refused.headers.get('x-ratelimit-reset');
  expect(refused.headers.get('retry-after')).toBe(reset);
  expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
  expect(refused.body).toEqual({
    code: 'too_many_requests',
    message: `the client has made its ${limit} requests of this minute; try again in ${reset} s`,
  });

  // Each route must refuse before it reads its request. A function whose counter is slow lets requests pass for seconds.
  for (const { method, path } of routes.filter((each) => each.public !== true)) {
    const asked = `${method} ${path.replaceAll(/\{\w+\}/g, 'x')}`;
    const { body } = await eventually(asked, async () => {
      const reply = await api(asked, { token });
      return reply.status === 429 ? reply : undefined;
    });
    expect(body, path).toMatchObject({ code: 'too_many_requests' });
  }

  const other = await api(route, { token: await tokenOf('supervisor1001') });
  expect(other.status).toBe(200);
});
