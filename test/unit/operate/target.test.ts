import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CommandError } from '../../../infra/operate/command.ts';
import { localTarget, runningLocalStack, targetOf } from '../../../infra/operate/target.ts';

const stack = {
  pid: process.pid,
  apiUrl: 'http://127.0.0.1:1',
  platformUrl: 'http://127.0.0.1:2',
  dynamodbEndpoint: 'http://127.0.0.1:3',
  sqsEndpoint: 'http://127.0.0.1:4',
  secretsEndpoint: 'http://127.0.0.1:5',
  region: 'us-east-1',
  stage: 'local',
  queueUrls: {},
  webhookReceiverPort: 6,
};
const directory = mkdtempSync(join(tmpdir(), 'target-'));

function fileOf(content: object): string {
  const file = join(directory, 'local-stack.json');
  writeFileSync(file, JSON.stringify(content));
  return file;
}

test('the running local stack is found; one that was killed, or none, is a sentence and status 2', () => {
  expect(runningLocalStack(fileOf(stack))).toEqual(stack);
  for (const file of [join(directory, 'no-such-file'), fileOf({ ...stack, pid: 2 ** 30 })]) {
    const refuse = () => runningLocalStack(file);
    expect(refuse).toThrow(CommandError);
    expect(refuse).toThrow(expect.objectContaining({ exitStatus: 2, message: expect.stringContaining('npm start') }));
  }
});

test('names follow from the stage alone', () => {
  const local = localTarget(stack);
  expect(local.tableName('directory')).toBe('template-messaging-local-directory');
  expect(local.secretName('TOKEN_SIGNING_KEYS_SECRET')).toBe('template-messaging-local-token-signing-keys');
  expect(targetOf('prod').tableName('credentials')).toBe('template-messaging-prod-credentials');
});
