import { randomBytes, randomUUID } from 'node:crypto';
import { type SealingJwk, type SealingKeySet, sealingKeySet } from '../../lib/webhooks/config/sealing.ts';
import { type SealingRotationStep, sealingRotationStep } from '../../lib/webhooks/config/sealing-rotation.ts';
import { CommandError } from './command.ts';
import type { Target } from './target.ts';
import type { PlannedKeys } from './token-keys.ts';

type SecretsOfTarget = Pick<Target, 'secrets' | 'secretName'>;

export async function plannedSealingKeys(target: SecretsOfTarget, nowSeconds: number): Promise<PlannedKeys> {
  const missing = (await readSealingKeys(target)) === undefined;
  return { missing, write: () => writeSealingKeys(target, { keys: [newSealingKey(nowSeconds)] }) };
}

/** Takes the next due step of the rotation. Throws `CommandError` when there are no keys. */
export async function rotateSealingKeys(target: SecretsOfTarget, nowMs = Date.now()): Promise<SealingRotationStep> {
  const stored = await readSealingKeys(target);
  if (stored === undefined) {
    throw new CommandError('There are no sealing keys yet: `infra/ops provision` creates them.');
  }
  const nowSeconds = Math.floor(nowMs / 1000);
  const due = sealingRotationStep(stored, newSealingKey(nowSeconds), nowSeconds);
  if (due.step !== 'wait') await writeSealingKeys(target, due.set);
  return due;
}

export function describeSealingStep(step: SealingRotationStep): string {
  switch (step.step) {
    case 'add':
      return 'A new sealing key is added. Run this again in ten minutes to seal with it.';
    case 'seal':
      return 'The new key seals from now on. Older keys stay, to open what they have sealed until its next PUT.';
    case 'wait':
      return `Nothing was changed: the next step is due at ${new Date(step.dueAtSeconds * 1000).toISOString()}.`;
  }
}

async function readSealingKeys({ secrets, secretName }: SecretsOfTarget): Promise<SealingKeySet | undefined> {
  const text = await secrets.read(secretName('WEBHOOK_SEALING_KEYS_SECRET'));
  return text === undefined ? undefined : sealingKeySet(text);
}

async function writeSealingKeys({ secrets, secretName }: SecretsOfTarget, set: SealingKeySet): Promise<void> {
  await secrets.write(secretName('WEBHOOK_SEALING_KEYS_SECRET'), JSON.stringify(set));
}

function newSealingKey(nowSeconds: number): SealingJwk {
  return { kty: 'oct', k: randomBytes(32).toString('base64url'), kid: randomUUID(), added_at: nowSeconds };
}
