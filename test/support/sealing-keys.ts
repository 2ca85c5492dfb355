import type { SealingJwk, SealingKeySet } from '../../lib/webhooks/config/sealing.ts';

/** Makes a key that seals webhook secrets; its `kid` distinguishes it. */
export function sealingKey(kid: string, addedAtSeconds = 0): SealingJwk {
  const k = Buffer.alloc(32, kid).toString('base64url');
  return { kty: 'oct', k, kid, added_at: addedAtSeconds };
}

export const sealingKeys = (...kids: readonly string[]): SealingKeySet => ({
  keys: kids.map((kid) => sealingKey(kid)),
});
