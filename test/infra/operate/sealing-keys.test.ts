import { expect, test } from 'vitest';
import { CommandError } from '../../../infra/operate/command.ts';
import { describeSealingStep, plannedSealingKeys, rotateSealingKeys } from '../../../infra/operate/sealing-keys.ts';
import { openSecret, sealingKeySet, sealSecret } from '../../../lib/webhooks/config/sealing.ts';
import { secretsInMemory } from '../../support/secrets.ts';

const start = 1_800_000_000;

function targetInMemory() {
  const secrets = secretsInMemory();
  const keys = () => sealingKeySet(secrets.texts.get('WEBHOOK_SEALING_KEYS_SECRET') ?? '');
  return { secrets, secretName: (variable: string) => variable, keys };
}

test('keys are created once', async () => {
  const target = targetInMemory();
  const planned = await plannedSealingKeys(target, start);
  expect(planned.missing).toBe(true);
  await planned.write();
  const before = target.keys();
  expect((await plannedSealingKeys(target, start + 1)).missing).toBe(false);
  expect(target.keys()).toEqual(before);
});

test('a new key opens before it seals, and whatever was sealed stays open, however often keys are rotated', async () => {
  const target = targetInMemory();
  await (await plannedSealingKeys(target, start)).write();
  const run = async (atSeconds: number) => (await rotateSealingKeys(target, atSeconds * 1000)).step;
  const sealed = [await sealSecret(target.keys(), 1001, 'whsec_0')];

  for (let round = 1; round <= 3; round++) {
    const [current] = target.keys().keys;
    const atSeconds = start + round * 10_000;
    expect(await run(atSeconds)).toBe('add');
    expect(target.keys().keys[0]).toEqual(current);
    const readByOthers = target.keys();
    expect(await run(atSeconds + 599)).toBe('wait');
    expect(target.keys()).toEqual(readByOthers);
    expect(await run(atSeconds + 600)).toBe('seal');
    expect(target.keys().keys[0]).not.toEqual(current);
    sealed.push(await sealSecret(target.keys(), 1001, `whsec_${round}`));
    for (const [index, text] of sealed.entries())
      expect(await openSecret(readByOthers, 1001, text)).toBe(`whsec_${index}`);
  }
  expect(target.keys().keys).toHaveLength(4);
});

test('without keys there is nothing to rotate', async () => {
  await expect(rotateSealingKeys(targetInMemory(), start * 1000)).rejects.toThrow(CommandError);
});

test('a run says when the next step is due, and never a key', () => {
  expect(describeSealingStep({ step: 'wait', dueAtSeconds: start })).toContain('2027-01-15T08:00:00.000Z');
});
