import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import { type KeySets, wholeKeySets } from '../../lib/access/tokens/key-rotation.ts';
import {
  type SigningJwk,
  type SigningKeySet,
  signingKeySet,
  tokenAlgorithm,
  type VerificationKeySet,
  verificationKeySet,
} from '../../lib/access/tokens/token-keys.ts';
import type { Target } from './target.ts';

type SecretsOfTarget = Pick<Target, 'secrets' | 'secretName'>;

export interface StoredKeySets {
  readonly signing: SigningKeySet | undefined;
  readonly verification: VerificationKeySet | undefined;
}

/** `write` creates the missing keys. */
export interface PlannedKeys {
  readonly missing: boolean;
  write(): Promise<void>;
}

export async function plannedTokenKeys(target: SecretsOfTarget, nowSeconds: number): Promise<PlannedKeys> {
  const stored = await readKeySets(target);
  const whole = wholeKeySets(stored, await newSigningKey(), nowSeconds);
  return {
    missing: isChanged(stored.verification, whole.verification) || isChanged(stored.signing, whole.signing),
    write: async () => {
      // The public set is written first, so that every signed token can be verified.
      await writeWhenChanged(target, 'TOKEN_VERIFICATION_KEYS_SECRET', stored.verification, whole.verification);
      await writeWhenChanged(target, 'TOKEN_SIGNING_KEYS_SECRET', stored.signing, whole.signing);
    },
  };
}

export async function readKeySets({ secrets, secretName }: SecretsOfTarget): Promise<StoredKeySets> {
  const [signing, verification] = await Promise.all([
    secrets.read(secretName('TOKEN_SIGNING_KEYS_SECRET')),
    secrets.read(secretName('TOKEN_VERIFICATION_KEYS_SECRET')),
  ]);
  return {
    signing: signing === undefined ? undefined : signingKeySet(signing),
    verification: verification === undefined ? undefined : verificationKeySet(verification),
  };
}

/** Writes changed sets, the signing set first (see `RotationStep`). */
export async function writeKeySets(target: SecretsOfTarget, stored: StoredKeySets, sets: KeySets): Promise<void> {
  await writeWhenChanged(target, 'TOKEN_SIGNING_KEYS_SECRET', stored.signing, sets.signing);
  await writeWhenChanged(target, 'TOKEN_VERIFICATION_KEYS_SECRET', stored.verification, sets.verification);
}

/** Creates a key pair; its id is its RFC 7638 thumbprint. */
export async function newSigningKey(): Promise<SigningJwk> {
  const { privateKey } = await generateKeyPair(tokenAlgorithm, { extractable: true });
  const { x = '', y = '', d = '' } = await exportJWK(privateKey);
  const key = { kty: 'EC', crv: 'P-256', x, y } as const;
  return { ...key, d, kid: await calculateJwkThumbprint(key) };
}

async function writeWhenChanged(
  { secrets, secretName }: SecretsOfTarget,
  variable: 'TOKEN_SIGNING_KEYS_SECRET' | 'TOKEN_VERIFICATION_KEYS_SECRET',
  before: KeySet | undefined,
  after: KeySet,
): Promise<void> {
  if (isChanged(before, after)) await secrets.write(secretName(variable), JSON.stringify(after));
}

type KeySet = SigningKeySet | VerificationKeySet;

function isChanged(before: KeySet | undefined, after: KeySet): boolean {
  return JSON.stringify(before) !== JSON.stringify(after);
}
