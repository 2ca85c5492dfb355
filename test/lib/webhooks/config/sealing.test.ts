import { expect, test } from 'vitest';
import {
  openSecret,
  resealed,
  sealingKeySet,
  sealSecret,
  secretOpener,
} from '../../../../lib/webhooks/config/sealing.ts';
import { webhookSecret } from '../../../../lib/webhooks/config/secret.ts';
import { sealingKey, sealingKeys } from '../../../support/sealing-keys.ts';

const secret = webhookSecret(Buffer.alloc(32, 7));

test('a secret is whsec_ and the base64 of 32 bytes, and of no other number of bytes', () => {
  expect(webhookSecret(Uint8Array.from({ length: 32 }, (_, index) => index))).toBe(
    'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  );
  expect(() => webhookSecret(new Uint8Array(31))).toThrow('32 bytes');
});

test('what is sealed opens for its client, shows nothing, and never looks the same twice', async () => {
  const sealed = await sealSecret(sealingKeys('a'), 1001, secret);
  expect(await openSecret(sealingKeys('a'), 1001, sealed)).toBe(secret);
  expect(sealed).not.toContain(secret.slice('whsec_'.length, -1));
  expect(sealed).not.toBe(await sealSecret(sealingKeys('a'), 1001, secret));
});

test('the first key seals and every key opens', async () => {
  const old = await sealSecret(sealingKeys('a'), 1001, secret);
  const both = sealingKeys('b', 'a');
  expect(await openSecret(both, 1001, old)).toBe(secret);
  await expect(openSecret(sealingKeys('a'), 1001, await sealSecret(both, 1001, secret))).rejects.toThrow(
    'not in the set',
  );
});

test('a sealed secret is worth nothing for another client, under another key, or altered', async () => {
  const sealed = await sealSecret(sealingKeys('a'), 1001, secret);
  await expect(openSecret(sealingKeys('a'), 1002, sealed)).rejects.toThrow('another client');
  const impostor = { keys: [{ ...sealingKey('b'), kid: 'a' }] };
  await expect(openSecret(impostor, 1001, sealed)).rejects.toThrow();
  const parts = sealed.split('.');
  const header = Buffer.from(JSON.stringify({ alg: 'dir', enc: 'A256GCM', kid: 'a', client_id: 1002 }));
  const moved = [header.toString('base64url'), ...parts.slice(1)].join('.');
  await expect(openSecret(sealingKeys('a'), 1002, moved)).rejects.toThrow();
});

test('a secret under an old key is sealed again under the first; one under the first is left as it is', async () => {
  const old = { sealed: await sealSecret(sealingKeys('a'), 1001, secret), createdAtMs: 5 };
  const fresh = await resealed(sealingKeys('b', 'a'), 1001, old);
  expect(await openSecret(sealingKeys('b'), 1001, fresh.sealed)).toBe(secret);
  expect(fresh.createdAtMs).toBe(5);
  expect(await resealed(sealingKeys('b', 'a'), 1001, fresh)).toBe(fresh);
});

test('the secrets that are valid now are opened, newest first', async () => {
  const [first, second] = [secret, webhookSecret(Buffer.alloc(32, 8))];
  const keys = sealingKeys('a');
  const config = {
    clientId: 1001,
    secrets: [
      { sealed: await sealSecret(keys, 1001, second), createdAtMs: 2 },
      { sealed: await sealSecret(keys, 1001, first), createdAtMs: 1, validUntilMs: 100 },
    ],
  };
  const open = secretOpener(async () => keys);
  expect(await open(config, 99)).toEqual([second, first]);
  expect(await open(config, 100)).toEqual([second]);
});

test.each([
  ['not JSON', 'secret-text'],
  ['no keys', '{"keys":[]}'],
  ['a key that is too short', JSON.stringify({ keys: [{ ...sealingKey('a'), k: 'c2VjcmV0LXRleHQ' }] })],
  ['another kind of key', JSON.stringify({ keys: [{ ...sealingKey('a'), kty: 'EC', k: 'secret-text' }] })],
])('an unusable key set is an error that does not quote it: %s', (_, text) => {
  expect(() => sealingKeySet(text)).toThrow(/^the sealing key set is not usable$/);
});
