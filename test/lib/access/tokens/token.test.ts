import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { type CryptoKey, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { expect, test } from 'vitest';
import { hasExpired } from '../../../../lib/access/caller.ts';
import { issueToken, tokenLifetimeSeconds, verifyToken } from '../../../../lib/access/tokens/token.ts';
import { signingKey, verificationKeys } from '../../../../lib/access/tokens/token-keys.ts';
import { anyText } from '../../../support/any-text.ts';
import { jwks, keyPair } from '../../../support/keys.ts';
import { thorough } from '../../../support/thorough.ts';

const nowMs = Date.UTC(2026, 10, 20, 12);
const nowSeconds = nowMs / 1000;
const scope = { issuer: 'https://issuer.example', audience: 'template-messaging' };
const subject = { userId: 'supervisor1001', clientId: 1001, permissions: ['BSP_CN', 'OTHER'] };

const pair = await keyPair();
const signing = await signingKey(jwks(pair.private));
const keys = await verificationKeys(jwks(pair.public));
const verify = (token: string, atMs = nowMs) => verifyToken(keys, scope, { token, nowMs: atMs });
const issue = (atMs = nowMs) => issueToken(signing, scope, { ...subject, tokenId: 'id-1', nowMs: atMs });

const goodHeader = { alg: 'ES256', kid: pair.private.kid, typ: 'at+jwt' };
const goodClaims = {
  iss: scope.issuer,
  aud: scope.audience,
  sub: subject.userId,
  jti: 'id-1',
  iat: nowSeconds,
  exp: nowSeconds + 60,
  cid: 1001,
  perms: [],
};

/** Makes a good token with the given changes; undefined removes a claim or header. */
async function tokenWith(change: { claims?: object; header?: object; key?: CryptoKey | Uint8Array } = {}) {
  const header = Object.fromEntries(
    Object.entries({ ...goodHeader, ...change.header }).filter(([, value]) => value !== undefined),
  ) as typeof goodHeader;
  const claims = JSON.parse(JSON.stringify({ ...goodClaims, ...change.claims }));
  return new SignJWT(claims).setProtectedHeader(header).sign(change.key ?? signing.key);
}

test('a token says who it was issued for, until it expires (D3)', async () => {
  const token = await issue();
  expect(await verify(token)).toEqual({ ...subject, expiresAtSeconds: nowSeconds + tokenLifetimeSeconds });
  expect(await verify(token, nowMs + 3_599_000)).toBeDefined();
  expect(tokenLifetimeSeconds).toBe(3_600);
  expect(token.length).toBeLessThan(600);
});

test.each<readonly [string, Parameters<typeof tokenWith>[0]]>([
  ['nothing changed', {}],
  ['several audiences, ours among them', { claims: { aud: ['another', scope.audience] } }],
  ['expiring in a second', { claims: { iat: nowSeconds - 100, exp: nowSeconds + 1 } }],
  ['issued by a clock four seconds ahead', { claims: { iat: nowSeconds + 4 } }],
  ['an extra claim', { claims: { extra: true } }],
])('good: %s', async (_, change) => {
  expect(await verify(await tokenWith(change))).toMatchObject({ userId: subject.userId, clientId: 1001 });
});

test('the lowest client and the shortest user id are good', async () => {
  const token = await tokenWith({ claims: { cid: 1, sub: 'u' } });
  expect(await verify(token)).toMatchObject({ userId: 'u', clientId: 1 });
});

test.each<readonly [string, Parameters<typeof tokenWith>[0]]>([
  [
    'expired this very second, which the endpoints refuse as well',
    { claims: { iat: nowSeconds - 100, exp: nowSeconds } },
  ],
  ['expired three seconds ago', { claims: { iat: nowSeconds - 100, exp: nowSeconds - 3 } }],
  ['no exp', { claims: { exp: undefined } }],
  ['exp that is text', { claims: { exp: String(nowSeconds + 60) } }],
  ['exp with a fraction', { claims: { exp: nowSeconds + 60.5 } }],
  ['no iat', { claims: { iat: undefined } }],
  ['older than an hour whatever exp says', { claims: { iat: nowSeconds - 3_606 } }],
  ['issued in the future', { claims: { iat: nowSeconds + 6 } }],
  ['not valid yet', { claims: { nbf: nowSeconds + 6 } }],
  ['no sub', { claims: { sub: undefined } }],
  ['empty sub', { claims: { sub: '' } }],
  ['no jti', { claims: { jti: undefined } }],
  ['no iss', { claims: { iss: undefined } }],
  ['another issuer', { claims: { iss: 'https://elsewhere.example' } }],
  ['no aud', { claims: { aud: undefined } }],
  ['another audience', { claims: { aud: 'another' } }],
  ['no cid', { claims: { cid: undefined } }],
  ['cid as text', { claims: { cid: '1001' } }],
  ['cid zero', { claims: { cid: 0 } }],
  ['cid beyond safe integers', { claims: { cid: 2 ** 53 } }],
  ['no perms', { claims: { perms: undefined } }],
  ['perms as text', { claims: { perms: 'BSP_CN' } }],
  ['a permission that would become two words', { claims: { perms: ['A BSP_CN'] } }],
  ['no typ', { header: { typ: undefined } }],
  ['an id token', { header: { typ: 'JWT' } }],
  ['no kid', { header: { kid: undefined } }],
  ['an unknown kid', { header: { kid: 'unknown' } }],
])('bad: %s (R33)', async (_, change) => {
  expect(await verify(await tokenWith(change))).toBeUndefined();
});

test('authorizer and endpoint agree on the expiry to the millisecond (D3)', async () => {
  const token = await issue();
  const expiresAtMs = nowMs + tokenLifetimeSeconds * 1000;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: expiresAtMs - 7_000, max: expiresAtMs + 7_000 }), async (atMs) => {
      const verified = await verify(token, atMs);
      expect(verified === undefined).toBe(hasExpired(expiresAtMs / 1000, atMs));
    }),
  );
});

test('bad: signed with a key that is not ours, under the id of ours (R33)', async () => {
  const { privateKey } = await generateKeyPair('ES256');
  expect(await verify(await tokenWith({ key: privateKey }))).toBeUndefined();
});

test('a key of ours that cannot verify is an error and no refusal: it would shut everybody out, unseen', async () => {
  const unfit = new Map([[pair.private.kid, signing.key]]);
  await expect(verifyToken(unfit, scope, { token: await issue(), nowMs })).rejects.toThrow(TypeError);
});

test('bad: another algorithm, however plausible (R33)', async () => {
  const rsa = await generateKeyPair('RS256');
  const eddsa = await generateKeyPair('EdDSA');
  const es384 = await generateKeyPair('ES384');
  for (const [alg, key] of [
    ['RS256', rsa.privateKey],
    ['EdDSA', eddsa.privateKey],
    ['ES384', es384.privateKey],
  ] as const) {
    expect(await verify(await tokenWith({ header: { alg }, key })), alg).toBeUndefined();
  }
});

test('bad: HS256 with the public key as the shared secret (R33)', async () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ ...goodHeader, alg: 'HS256' })}.${part(goodClaims)}`;
  const mac = createHmac('sha256', JSON.stringify(pair.public)).update(signed).digest('base64url');
  expect(await verify(`${signed}.${mac}`)).toBeUndefined();
});

test('bad: no signature at all (R33)', async () => {
  const [header, claims] = (await tokenWith()).split('.');
  expect(await verify(new UnsecuredJWT(goodClaims).encode())).toBeUndefined();
  expect(await verify(`${header}.${claims}.`)).toBeUndefined();
  expect(await verify(`${header}.${claims}`)).toBeUndefined();
});

test('bad: a key of its own in the header, or an unknown critical header (R33)', async () => {
  const own = await keyPair();
  const header = { kid: own.private.kid, jwk: own.public };
  expect(await verify(await tokenWith({ header, key: (await signingKey(jwks(own.private))).key }))).toBeUndefined();
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const [, claims, signature] = (await tokenWith()).split('.');
  expect(await verify(`${part({ ...goodHeader, crit: ['x'], x: 1 })}.${claims}.${signature}`)).toBeUndefined();
});

test('bad: one character of a good token changed, and any text at all; none is an error (R33)', async () => {
  const token = await issue();
  const changed = fc
    .tuple(fc.nat(token.length - 1), fc.constantFrom('A', '.', '_', '=', '\u0000', 'é'))
    .map(([at, character]) => token.slice(0, at) + character + token.slice(at + 1))
    .filter((text) => text !== token);
  await fc.assert(
    fc.asyncProperty(fc.oneof(changed, fc.string(), anyText()), async (text) => {
      expect(await verify(text)).toBeUndefined();
    }),
    { numRuns: thorough ? 300 : 60 },
  );
});

test('tokens of both keys are good while both are published, and of the remaining one afterwards (R39)', async () => {
  const next = await keyPair();
  const old = await issue();
  const fresh = await issueToken(await signingKey(jwks(next.private)), scope, { ...subject, tokenId: 'id-2', nowMs });
  const both = await verificationKeys(jwks(pair.public, next.public));
  const after = await verificationKeys(jwks(next.public));
  expect(await verifyToken(both, scope, { token: old, nowMs })).toBeDefined();
  expect(await verifyToken(both, scope, { token: fresh, nowMs })).toBeDefined();
  expect(await verifyToken(after, scope, { token: old, nowMs })).toBeUndefined();
  expect(await verifyToken(after, scope, { token: fresh, nowMs })).toBeDefined();
});
