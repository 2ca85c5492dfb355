import type { SealingJwk, SealingKeySet } from './sealing.ts';

/** A function caches sealing keys this long, and a rotation waits for it. */
export const sealingKeysKeptSeconds = 300;

/** Twice the cache time leaves room for clocks that differ and reads that are retried. */
const readEverywhereSeconds = 2 * sealingKeysKeptSeconds;

export type SealingRotationStep =
  | { readonly step: 'add' | 'seal'; readonly set: SealingKeySet }
  | { readonly step: 'wait'; readonly dueAtSeconds: number };

/**
 * Returns the rotation step that is due: `add` a new key, which only opens; `seal` with it once every function has read
 * it. No key is ever removed, because old configurations stay sealed with it.
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
