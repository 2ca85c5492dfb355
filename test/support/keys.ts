import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import type { SigningJwk, VerificationJwk } from '../../lib/access/tokens/token-keys.ts';

/** Makes a key pair as provisioning does. */
export async function keyPair(): Promise<{ readonly private: SigningJwk; readonly public: VerificationJwk }> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const { x = '', y = '', d = '' } = await exportJWK(privateKey);
  const key = { kty: 'EC', crv: 'P-256', x, y } as const;
  const kid = await calculateJwkThumbprint(key);
  return { private: { ...key, d, kid, signing_since: 0 }, public: { ...key, kid, published_at: 0 } };
}

export const jwks = (...keys: readonly object[]): string => JSON.stringify({ keys });
