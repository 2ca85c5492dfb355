import { expect, test } from 'vitest';
import { signingKey, verificationKeys } from '../../../../lib/access/tokens/token-keys.ts';
import { jwks, keyPair } from '../../../support/keys.ts';

const first = await keyPair();
const second = await keyPair();

test('the first signing key signs; every published key verifies', async () => {
  expect((await signingKey(jwks(first.private, second.private))).keyId).toBe(first.private.kid);
  expect([...(await verificationKeys(jwks(first.public, second.public))).keys()]).toEqual([
    first.public.kid,
    second.public.kid,
  ]);
});

test('a private key in the public set is reduced to its public half', async () => {
  const keys = await verificationKeys(jwks({ ...first.public, d: first.private.d }));
  expect([...keys.values()].map(({ type }) => type)).toEqual(['public']);
});

test('a private half only signs, a public one only verifies, and no key can be exported again', async () => {
  const { key } = await signingKey(jwks(first.private));
  expect([key.type, key.extractable, key.usages]).toEqual(['private', false, ['sign']]);
  const verifying = (await verificationKeys(jwks(first.public))).get(first.public.kid);
  expect([verifying?.type, verifying?.extractable, verifying?.usages]).toEqual(['public', false, ['verify']]);
});

const unusable = [
  [signingKey, 'the signing key set is not usable'],
  [verificationKeys, 'the verification key set is not usable'],
] as const;

test.each([
  ['not JSON', 'secret-text'],
  ['empty text', ''],
  ['null', 'null'],
  ['no keys', '{}'],
  ['an empty set', '{"keys":[]}'],
  ['another curve', jwks({ ...first.private, crv: 'P-384', published_at: 0 })],
  ['a symmetric key', jwks({ kty: 'oct', k: 'secret-text', kid: 'a', published_at: 0 })],
  ['no kid', jwks({ ...first.private, kid: undefined, published_at: 0 })],
  ['one good key and one bad', jwks({ ...first.private, published_at: 0 }, { kty: 'EC' })],
  ['an x that is not text', jwks({ ...first.private, x: 1, published_at: 0 })],
  ['an empty kid', jwks({ ...first.private, kid: '', published_at: 0 })],
])('an unusable key set is an error that does not quote it: %s (R35)', async (_, text) => {
  for (const [read, message] of unusable) await expect(read(text)).rejects.toThrow(new Error(message));
});

test('a point that is not on the curve is an error that does not quote it (R35)', async () => {
  const off = jwks({ ...first.private, y: first.private.x, published_at: 0 });
  for (const [read] of unusable) {
    const message = await read(off).then(() => 'usable', String);
    expect(message).toContain('Error');
    expect([first.private.d, first.private.x].filter((part) => message.includes(part))).toEqual([]);
  }
});
