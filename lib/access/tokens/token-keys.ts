import type { CryptoKey } from 'jose';
import * as v from 'valibot';

/** Access tokens have this one signature algorithm (D3). */
export const tokenAlgorithm = 'ES256';

/** A function caches keys this long, and a rotation waits for it (key-rotation.ts). */
export const keysKeptSeconds = 300;

const text = v.pipe(v.string(), v.minLength(1));

const publicMembers = { kty: v.literal('EC'), crv: v.literal('P-256'), x: text, y: text, kid: text };

/** The rotation uses `published_at` to know when every authorizer has the key. */
const VerificationKeySchema = v.object({ ...publicMembers, published_at: v.number() });

/** `signing_since` is absent while the key waits for its turn. */
const SigningKeySchema = v.object({ ...publicMembers, d: text, signing_since: v.optional(v.number()) });

const VerificationKeySetSchema = v.object({ keys: v.pipe(v.array(VerificationKeySchema), v.minLength(1)) });

const SigningKeySetSchema = v.object({ keys: v.tupleWithRest([SigningKeySchema], SigningKeySchema) });

export type VerificationJwk = v.InferOutput<typeof VerificationKeySchema>;
export type SigningJwk = v.InferOutput<typeof SigningKeySchema>;
export type VerificationKeySet = v.InferOutput<typeof VerificationKeySetSchema>;
export type SigningKeySet = v.InferOutput<typeof SigningKeySetSchema>;

export interface SigningKey {
  readonly keyId: string;
  readonly key: CryptoKey;
}

/** By key id, there is one public key, or two during a rotation (R39). */
export type VerificationKeys = ReadonlyMap<string, CryptoKey>;

/** Parses the verification-keys secret (a JWKS). Throws on an unusable set, and so never returns an empty one. */
export function verificationKeySet(jwks: string): VerificationKeySet {
  return keySet(VerificationKeySetSchema, jwks, 'the verification key set is not usable');
}

/** Parses the signing-keys secret (a JWKS with private keys). Throws on an unusable set. */
export function signingKeySet(jwks: string): SigningKeySet {
  return keySet(SigningKeySetSchema, jwks, 'the signing key set is not usable');
}

/** Returns the keys that verify tokens, from the text of their secret. */
export async function verificationKeys(jwks: string): Promise<VerificationKeys> {
  const { keys } = verificationKeySet(jwks);
  return new Map(await Promise.all(keys.map(async (jwk) => [jwk.kid, await cryptoKey(jwk)] as const)));
}

/** Returns the first key of the signing-keys secret, which signs. */
export async function signingKey(jwks: string): Promise<SigningKey> {
  const [first] = signingKeySet(jwks).keys;
  return { keyId: first.kid, key: await cryptoKey(first) };
}

/** The texts of valibot and JSON.parse quote what they read, and this is key material. */
function keySet<const S extends v.GenericSchema>(schema: S, jwks: string, unusable: string): v.InferOutput<S> {
  try {
    return v.parse(schema, JSON.parse(jwks));
  } catch {
    throw new Error(unusable);
  }
}

/** A key with a private half signs, another verifies. Neither can be exported. */
async function cryptoKey({ kty, crv, x, y, ...rest }: VerificationJwk | SigningJwk): Promise<CryptoKey> {
  const algorithm = { name: 'ECDSA', namedCurve: crv };
  return 'd' in rest
    ? await crypto.subtle.importKey('jwk', { kty, crv, x, y, d: rest.d }, algorithm, false, ['sign'])
    : await crypto.subtle.importKey('jwk', { kty, crv, x, y }, algorithm, false, ['verify']);
}
