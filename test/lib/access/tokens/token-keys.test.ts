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
  ['a point that is not on the curve', jwks({ ...first.private, y: first.private.x, published_at: 0 })],
])('unusable key material is an error that does not quote it: %s (R35)', async (_, text) => {
  for (const read of [signingKey, verificationKeys]) {
    const error = await read(text).then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(error).toBeInstanceOf(Error);
    expect(error?.message).not.toMatch(new RegExp(`secret-text|${first.private.d}`));
  }
});
