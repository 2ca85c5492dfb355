import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose';
import * as v from 'valibot';
import { type SealedSecret, validSecrets } from './config.ts';

const keyManagement = 'dir';
const encryption = 'A256GCM';
const keyBytes = 32;

const SealingKeySchema = v.object({
  kty: v.literal('oct'),
  k: v.pipe(
    v.string(),
    v.check((k) => Buffer.from(k, 'base64url').byteLength === keyBytes),
  ),
  kid: v.pipe(v.string(), v.minLength(1)),
  /** The time is in seconds. The rotation uses it to know when every function has the key (sealing-rotation.ts). */
  added_at: v.number(),
});
const SealingKeySetSchema = v.object({ keys: v.pipe(v.array(SealingKeySchema), v.minLength(1)) });

export type SealingJwk = v.InferOutput<typeof SealingKeySchema>;

/** The first key seals; every key opens what it has sealed. */
export type SealingKeySet = v.InferOutput<typeof SealingKeySetSchema>;

/** Parses the sealing-keys secret (a JWKS). Throws on an unusable set, without quoting it. */
export function sealingKeySet(jwks: string): SealingKeySet {
  try {
    return v.parse(SealingKeySetSchema, JSON.parse(jwks));
  } catch {
    throw new Error('the sealing key set is not usable');
  }
}

/** Encrypts a signing secret with the service's key, bound to its client (D34). */
export async function sealSecret({ keys }: SealingKeySet, clientId: number, secret: string): Promise<string> {
  const [first] = keys;
  if (first === undefined) throw new Error('the sealing key set is not usable');
  return new CompactEncrypt(Buffer.from(secret))
    .setProtectedHeader({ alg: keyManagement, enc: encryption, kid: first.kid, client_id: clientId })
    .encrypt(bytesOf(first));
}

/** Decrypts a secret. Throws when no key fits, when it belongs to another client, or when it was changed. */
export async function openSecret({ keys }: SealingKeySet, clientId: number, sealed: string): Promise<string> {
  const { kid } = decodeProtectedHeader(sealed);
  const key = keys.find((candidate) => candidate.kid === kid);
  if (key === undefined) throw new Error('a webhook secret was sealed with a key that is not in the set');
  const { plaintext, protectedHeader } = await compactDecrypt(sealed, bytesOf(key), {
    keyManagementAlgorithms: [keyManagement],
    contentEncryptionAlgorithms: [encryption],
  });
  if (protectedHeader['client_id'] !== clientId) throw new Error('a webhook secret was sealed for another client');
  return Buffer.from(plaintext).toString();
}

export async function resealed(keys: SealingKeySet, clientId: number, secret: SealedSecret): Promise<SealedSecret> {
  const { kid } = decodeProtectedHeader(secret.sealed);
  if (kid === keys.keys[0]?.kid) return secret;
  const opened = await openSecret(keys, clientId, secret.sealed);
  return { ...secret, sealed: await sealSecret(keys, clientId, opened) };
}

/** Returns the `whsec_` texts of a configuration that are valid at a moment, newest first. */
export type OpenSecrets = (
  config: { readonly clientId: number; readonly secrets: readonly SealedSecret[] },
  nowMs: number,
) => Promise<string[]>;

export function secretOpener(keys: () => Promise<SealingKeySet>): OpenSecrets {
  return async ({ clientId, secrets }, nowMs) => {
    const set = await keys();
    return Promise.all(validSecrets(secrets, nowMs).map(({ sealed }) => openSecret(set, clientId, sealed)));
  };
}

function bytesOf({ k }: SealingJwk): Uint8Array {
  return Buffer.from(k, 'base64url');
}
