import type { SealingJwk, SealingKeySet } from './sealing.ts';

/** How long a function uses sealing keys before it reads their secret again. A rotation waits for it. */
export const sealingKeysKeptSeconds = 300;

/** Twice that: room for clocks that differ and reads that are tried again. */
const readEverywhereSeconds = 2 * sealingKeysKeptSeconds;

export type SealingRotationStep =
  | { readonly step: 'add' | 'seal'; readonly set: SealingKeySet }
  | { readonly step: 'wait'; readonly dueAtSeconds: number };

/**
 * The step of a rotation that is due: `add` a new key, which opens but seals nothing; once every function has read it,
 * `seal` with it. So nobody meets a secret that he cannot open. No key is ever taken away: a configuration that no PUT has
 * changed since is still sealed with an older one.
 */
export function sealingRotationStep(
  { keys }: SealingKeySet,
  newKey: SealingJwk,
  nowSeconds: number,
): SealingRotationStep {
  const [current, ...others] = keys;
  if (current === undefined) throw new Error('the sealing key set is empty');
  const waiting = others.find((key) => key.added_at > current.added_at);
  if (waiting === undefined) return { step: 'add', set: { keys: [...keys, newKey] } };
  const dueAtSeconds = waiting.added_at + readEverywhereSeconds;
  if (nowSeconds < dueAtSeconds) return { step: 'wait', dueAtSeconds };
  return { step: 'seal', set: { keys: [waiting, ...keys.filter((key) => key !== waiting)] } };
}
