import { tokenLifetimeSeconds } from './token.ts';
import {
  keysKeptSeconds,
  type SigningJwk,
  type SigningKeySet,
  type VerificationJwk,
  type VerificationKeySet,
} from './token-keys.ts';

/** Twice a reader's cache time leaves room for clocks that differ and reads that are retried. */
const refreshedEverywhereSeconds = 2 * keysKeptSeconds;

/** Both key sets are as stored. The first signing key signs; a second one waits for its turn. */
export interface KeySets {
  readonly signing: SigningKeySet;
  readonly verification: VerificationKeySet;
}

/** `publish` writes the signing set first: its second key signs nothing yet. */
export type RotationStep =
  | { readonly step: 'publish' | 'sign' | 'retire'; readonly sets: KeySets }
  | { readonly step: 'wait'; readonly dueAtSeconds: number };

/** Completes the stored sets: a first signing key when there is none, and every signing key published. */
export function wholeKeySets(
  stored: { readonly signing: SigningKeySet | undefined; readonly verification: VerificationKeySet | undefined },
  newKey: SigningJwk,
  nowSeconds: number,
): KeySets {
  const signing = stored.signing ?? { keys: [{ ...newKey, signing_since: nowSeconds }] };
  const published = stored.verification?.keys ?? [];
  const missing = signing.keys.filter((key) => !isPublished(key, published));
  return {
    signing,
    verification: { keys: [...published, ...missing.map((key) => publicHalf(key, nowSeconds))] },
  };
}

/**
 * Returns the rotation step that is due by the ages in the sets, so that no token is refused (R39): `publish` a public
 * key, `sign` once all readers know it, `retire` the old key. An interrupted step is repeated.
 */
export function rotationStep(sets: KeySets, newKey: SigningJwk, nowSeconds: number): RotationStep {
  const published = sets.verification.keys;
  const [current, waiting] = sets.signing.keys;
  if (sets.signing.keys.some((key) => !isPublished(key, published))) {
    return { step: 'publish', sets: wholeKeySets(sets, newKey, nowSeconds) };
  }
  if (waiting !== undefined) {
    const publishedAtSeconds = published.find(({ kid }) => kid === waiting.kid)?.published_at ?? nowSeconds;
    const signing: SigningKeySet = { keys: [{ ...waiting, signing_since: nowSeconds }] };
    return onceDue(publishedAtSeconds + refreshedEverywhereSeconds, nowSeconds, {
      step: 'sign',
      sets: { ...sets, signing },
    });
  }
  const inUse = published.filter(({ kid }) => kid === current.kid);
  if (inUse.length === published.length) {
    const signing: SigningKeySet = { keys: [current, newKey] };
    return { step: 'publish', sets: wholeKeySets({ ...sets, signing }, newKey, nowSeconds) };
  }
  // A login function may sign with the old key until it reads the set again; that token then lives an hour.
  const signingSinceSeconds = current.signing_since ?? nowSeconds;
  return onceDue(signingSinceSeconds + refreshedEverywhereSeconds + tokenLifetimeSeconds, nowSeconds, {
    step: 'retire',
    sets: { ...sets, verification: { keys: inUse } },
  });
}

function isPublished(key: SigningJwk, published: readonly VerificationJwk[]): boolean {
  return published.some(({ kid }) => kid === key.kid);
}

function publicHalf(key: SigningJwk, publishedAtSeconds: number): VerificationJwk {
  const { kty, crv, x, y, kid } = key;
  return { kty, crv, x, y, kid, published_at: publishedAtSeconds };
}

function onceDue(dueAtSeconds: number, nowSeconds: number, due: RotationStep): RotationStep {
  return nowSeconds >= dueAtSeconds ? due : { step: 'wait', dueAtSeconds };
}
