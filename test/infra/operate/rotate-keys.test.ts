import { expect, test } from 'vitest';
import { CommandError } from '../../../infra/operate/command.ts';
import { describeStep, rotateKeys } from '../../../infra/operate/keys/rotate-keys.ts';
import { plannedTokenKeys } from '../../../infra/operate/token-keys.ts';
import { signingKey, verificationKeys } from '../../../lib/access/tokens/token-keys.ts';
import { secretsInMemory } from '../../support/secrets.ts';

const start = 1_800_000_000;

function targetInMemory() {
  const secrets = secretsInMemory();
  const text = (name: string) => secrets.texts.get(name) ?? '';
  return {
    secrets,
    secretName: (variable: string) => variable,
    signs: async () => (await signingKey(text('TOKEN_SIGNING_KEYS_SECRET'))).keyId,
    verifies: async () => [...(await verificationKeys(text('TOKEN_VERIFICATION_KEYS_SECRET'))).keys()],
  };
}

test('three runs at the right times replace the key; runs in between change nothing (R39)', async () => {
  const target = targetInMemory();
  await (await plannedTokenKeys(target, start)).write();
  const oldKey = await target.signs();
  const run = async (atSeconds: number) => (await rotateKeys(target, atSeconds * 1000)).step;

  expect(await run(start)).toBe('publish');
  const [, newKey] = await target.verifies();
  expect(await target.verifies()).toEqual([oldKey, newKey]);
  expect(await target.signs()).toBe(oldKey);

  target.secrets.written.length = 0;
  expect(await run(start + 599)).toBe('wait');
  expect(target.secrets.written).toEqual([]);
  expect(await run(start + 600)).toBe('sign');
  expect(await target.signs()).toBe(newKey);
  expect(await target.verifies()).toEqual([oldKey, newKey]);

  expect(await run(start + 4_799)).toBe('wait');
  expect(await run(start + 4_800)).toBe('retire');
  expect(await target.verifies()).toEqual([newKey]);
  expect(target.secrets.written).toEqual(['TOKEN_SIGNING_KEYS_SECRET', 'TOKEN_VERIFICATION_KEYS_SECRET']);
});

test('the next run finishes a publication that died between its two writes', async () => {
  const target = targetInMemory();
  await (await plannedTokenKeys(target, start)).write();
  const write = target.secrets.write;
  let writes = 0;
  const dying = {
    ...target,
    secrets: {
      ...target.secrets,
      write: async (name: string, text: string) => {
        writes += 1;
        if (writes === 2) throw new Error('killed');
        await write(name, text);
      },
    },
  };
  await expect(rotateKeys(dying, start * 1000)).rejects.toThrow('killed');
  expect(await target.verifies()).toEqual([await target.signs()]);
  expect((await rotateKeys(target, (start + 5_000) * 1000)).step).toBe('publish');
  expect(await target.verifies()).toHaveLength(2);
  expect((await rotateKeys(target, (start + 5_001) * 1000)).step).toBe('wait');
});

test('without keys there is nothing to rotate', async () => {
  await expect(rotateKeys(targetInMemory(), start * 1000)).rejects.toThrow(CommandError);
});

test('a run says when the next step is due', () => {
  expect(describeStep({ step: 'wait', dueAtSeconds: start })).toContain('2027-01-15T08:00:00.000Z');
});
