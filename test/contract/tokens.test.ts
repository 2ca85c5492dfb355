import { generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import { routes } from '../../infra/routes.ts';
import { type SigningKey, signingKey } from '../../lib/access/tokens/token-keys.ts';
import { api, tokenOf } from '../support/api.ts';
import { builtOperations } from '../support/built-operations.ts';
import { runningTarget } from '../support/running-target.ts';

/*
 * Each kind of invalid token is refused (D2), and each protected route refuses one: all share one authorizer
 * (test/infra/api.test.ts). Tokens come from a real one and the stack's own key, with exactly one fault each.
 */

const guarded = routes.filter((route) => route.public !== true && builtOperations().includes(route.operation));

function requestOf({ method, path }: (typeof routes)[number]) {
  const route = `${method} ${path.replace(/\{\w+\}/g, '5491100000001')}`;
  return { route, ...(method === 'GET' || method === 'DELETE' ? {} : { body: {} }) };
}

let signing: SigningKey;
let claims: JWTPayload;

function signed(change: JWTPayload, { keyId, key } = signing): Promise<string> {
  return new SignJWT({ ...claims, ...change })
    .setProtectedHeader({ alg: 'ES256', kid: keyId, typ: 'at+jwt' })
    .sign(key);
}

const nowSeconds = () => Math.floor(Date.now() / 1000);

const bad: readonly [what: string, make: () => Promise<string>][] = [
  ['text that is no token', async () => 'Bearer x'],
  ['another scheme', async () => `Basic ${await signed({})}`],
  ['the token without a scheme', () => signed({})],
  ['a right given in place of the signed claims', async () => `Bearer ${withClaims(await signed({}))}`],
  [
    'a signature of another key, under the id of ours',
    async () =>
      `Bearer ${await signed({}, { keyId: signing.keyId, key: (await generateKeyPair('ES256')).privateKey })}`,
  ],
  [
    'a key that is not published',
    async () => `Bearer ${await signed({}, { keyId: 'retired', key: (await generateKeyPair('ES256')).privateKey })}`,
  ],
  ['a foreign issuer', async () => `Bearer ${await signed({ iss: 'urn:somebody-else' })}`],
  ['a foreign audience', async () => `Bearer ${await signed({ aud: 'urn:somebody-else' })}`],
  ['an expiry that has passed', async () => `Bearer ${await signed({ exp: nowSeconds() })}`],
  ['no signature, alg none', async () => `Bearer ${new UnsecuredJWT(claims).encode()}`],
  ['padding behind a good token', async () => `Bearer ${await signed({})}==`],
];

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
  const { status } = await api('GET /v1/templates', { token: await signed({}) });
  expect(status).toBe(200);
});

const refusal = { status: 401, text: '{"message":"Unauthorized","code":"unauthorized"}' };

test.each(bad)('%s: the endpoint answers 401, and so from the gateway’s memory', async (_, make) => {
  const headers = { authorization: await make() };
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
    const headers = { authorization: `Bearer ${withClaims(await signed({}))}` };
    expect(await api(route, { ...request, headers })).toMatchObject(refusal);
  },
);

test('every route that is not public was asked', () => {
  expect(guarded.length).toBeGreaterThanOrEqual(16);
});
