import { expect, test, vi } from 'vitest';
import { CommandError } from '../../../infra/operate/command.ts';
import { localTarget, nameTarget, targetOf } from '../../../infra/operate/target.ts';

const stack = {
  dynamodbEndpoint: 'http://127.0.0.1:3',
  secretsEndpoint: 'http://127.0.0.1:5',
  region: 'us-east-1',
  stage: 'local',
};

test('names follow from the stage alone', () => {
  const local = localTarget(stack);
  expect(local.tableName('directory')).toBe('template-messaging-local-directory');
  expect(local.secretName('TOKEN_SIGNING_KEYS_SECRET')).toBe('template-messaging-local-token-signing-keys');
});

test('a target is named in one line, apart from what the command prints', () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  nameTarget({ apiUrl: 'http://127.0.0.1:3000' });
  nameTarget({ stage: 'prod', account: '123456789012', region: 'eu-west-1' });
  expect(printed.mock.calls).toEqual([
    ['the local stack at http://127.0.0.1:3000'],
    ['stage prod, account 123456789012, region eu-west-1'],
  ]);
  printed.mockRestore();
});

test.each(['', 'Prod', 'prod/eu', 'a-stage-name-too-long'])('no stage can be named %j', async (stage) => {
  await expect(targetOf(stage)).rejects.toThrow(CommandError);
  await expect(targetOf(stage)).rejects.toThrow('--stage must be 1 to 16 of a-z, 0-9 and -');
});
