import { type JWTPayload, SignJWT } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import { routes } from '../../infra/routes.ts';
import { type SigningKey, signingKey } from '../../lib/access/tokens/token-keys.ts';
import { api, eventually, tokenOf } from '../support/api.ts';
import { builtOperations } from '../support/built-operations.ts';
import { runningTarget } from '../support/running-target.ts';

/*
 * Each protected route refuses a forged token: all share one authorizer (test/infra/api.test.ts). Each kind of invalid
 * token is in test/lib/access/tokens/{token,token-form}.test.ts and test/functions/authorizer.test.ts (D2).
 */

const guarded = routes.filter((route) => route.public !== true && builtOperations().includes(route.operation));

function requestOf({ method, path }: (typeof routes)[number]) {
  const route = `${method} ${path.replace(/\{\w+\}/g, '5491100000001')}`;
  return { route, ...(method === 'GET' || method === 'DELETE' ? {} : { body: {} }) };
}

let signing: SigningKey;
let claims: JWTPayload;

function signed(change: JWTPayload = {}): Promise<string> {
  return new SignJWT({ ...claims, ...change })
    .setProtectedHeader({ alg: 'ES256', kid: signing.keyId, typ: 'at+jwt' })
    .sign(signing.key);
}

const nowSeconds = () => Math.floor(Date.now() / 1000);

function withClaims(token: string): string {
  const [head, , signature] = token.split('.');
  const forged = Buffer.from(JSON.stringify({ ...claims, perms: ['BSP_CN'] })).toString('base64url');
  return `${head}.${forged}.${signature}`;
}

beforeAll(async () => {
  const target = runningTarget();
  signing = await signingKey((await target.secrets.read(target.secretName('TOKEN_SIGNING_KEYS_SECRET'))) ?? '');
  const [, payload = ''] = (await tokenOf('supervisor1001')).split('.');
  claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
});

test('what the bad ones are made of is good', async () => {
  const { status } = await api('GET /v1/templates', { token: await signed() });
  expect(status).toBe(200);
});

const refusal = { status: 401, text: '{"message":"Unauthorized","code":"unauthorized"}' };

test('a right that was not signed: the endpoint answers 401, and so from the gateway’s memory', async () => {
  const headers = { authorization: `Bearer ${withClaims(await signed())}` };
  for (const time of ['first', 'again']) {
    const reply = await api('GET /v1/templates', { headers });
    expect(reply, time).toMatchObject(refusal);
    expect(reply.headers.get('www-authenticate')).toBe('Bearer');
  }
});

test.each(guarded.map((route) => [`${route.method} ${route.path}`, requestOf(route)] as const))(
  '%s: without a token the gateway answers 401, with a forged one the endpoint',
  async (_, { route, ...request }) => {
    expect(await api(route, request)).toMatchObject({ status: 401, text: '{"message":"Unauthorized"}' });
    const headers = { authorization: `Bearer ${withClaims(await signed())}` };
    expect(await api(route, { ...request, headers })).toMatchObject(refusal);
  },
);

test('every route that is not public was asked', () => {
  expect(guarded.length).toBeGreaterThanOrEqual(16);
});

test('a token that ends while the gateway remembers it is refused by the function, with the gateway’s own text (D3, R34)', async () => {
  const token = await signed({ exp: nowSeconds() + 4 });
  expect(await api('GET /v1/templates', { token })).toMatchObject({ status: 200 });
  const ended = await eventually('the token ends', async () => {
    const reply = await api('GET /v1/templates', { token });
    return reply.status === 200 ? undefined : reply;
  });
  // The function's 401 has a code and the authorizer's has none, so the authorizer was not asked again.
  expect(ended).toMatchObject(refusal);
});
