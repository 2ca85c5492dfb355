import { type RotationStep, rotationStep } from '../../../lib/access/tokens/key-rotation.ts';
import { type Command, CommandError, type CommandWords, commandLine, helpOption, stageOption } from '../command.ts';
import { auditOf } from '../operator-audit.ts';
import { describeSealingStep, rotateSealingKeys } from '../sealing-keys.ts';
import { type Target, targetOf } from '../target.ts';
import { newSigningKey, readKeySets, writeKeySets } from '../token-keys.ts';

const options = {
  sealing: { type: 'boolean', default: false, about: 'the key that encrypts webhook secrets' },
  stage: stageOption,
  help: helpOption,
} as const;

const words: CommandWords = {
  lines: ['rotate-keys [--sealing]'],
  about: `Replaces the key that signs access tokens, without refusing one token. Each run takes the step that is due:
publish a new public key; ten minutes later, sign with it; seventy minutes after that, drop the old public key. A run
that comes too early changes nothing and says when the next step is due. The run after the last step begins the next
rotation.

With --sealing, the same for the key that encrypts webhook secrets, in two steps: add a new key; ten minutes later, seal
with it. Older keys stay: they open what they have sealed, until the client's next PUT seals it again.`,
  options,
};

/** Takes the next due step of the key rotation (R39). Throws `CommandError` when there are no keys. */
export async function rotateKeys(
  target: Pick<Target, 'secrets' | 'secretName'>,
  nowMs = Date.now(),
): Promise<RotationStep> {
  const { signing, verification } = await readKeySets(target);
  if (signing === undefined || verification === undefined) {
    throw new CommandError('There are no token keys yet: `infra/ops provision` creates them.');
  }
  const due = rotationStep({ signing, verification }, await newSigningKey(), Math.floor(nowMs / 1000));
  if (due.step !== 'wait') await writeKeySets(target, { signing, verification }, due.sets);
  return due;
}

export function describeStep(step: RotationStep): string {
  switch (step.step) {
    case 'publish':
      return 'A new public key is published. Run this again in ten minutes to sign with it.';
    case 'sign':
      return 'The new key signs. Run this again in seventy minutes to drop the old public key.';
    case 'retire':
      return 'The old public key is gone. The rotation is complete.';
    case 'wait':
      return `Nothing was changed: the next step is due at ${new Date(step.dueAtSeconds * 1000).toISOString()}.`;
  }
}

export const command: Command = {
  words,
  run: async (typed) => {
    const { values } = commandLine({ args: [...typed], options });
    const target = await targetOf(values.stage);
    const step = async () =>
      values.sealing ? describeSealingStep(await rotateSealingKeys(target)) : describeStep(await rotateKeys(target));
    const how = values.sealing ? 'sealing' : 'tokens';
    console.log(await auditOf(target, values.stage)('command.rotate_keys', { how }, step));
  },
};
