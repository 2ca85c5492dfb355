import { expect, test } from 'vitest';
import { CommandError } from '../../../infra/operate/command.ts';
import { commands, ops } from '../../../infra/operate/ops.ts';

/* A wrong line is told in a sentence before a command opens anything: no credentials and no stack are there. */

const since = '--since 2026-10-01T00:00:00Z';

test.each(commands)('infra/ops $name knows its options, and no other', async ({ name }) => {
  const error = await ops([...name.split(' '), '--stagee', 'prod'], () => undefined).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION' });
});

test.each([
  ['audit --what sending', '--what takes one of login, '],
  ['audit --since 401d', '--since takes 400d at most, not 401d'],
  ['audit --client x', '--client is not a client id'],
  ['credential --token -', 'infra/ops credential WABA'],
  ['credential 1 --token token-of-text', '--token takes - alone'],
  ['credential 1', '--token takes - alone'],
  [`events replay ${since}`, '--client is missing'],
  [`events replay --client 1e3 ${since}`, '--client is not a client id: 1e3'],
  ['events replay --client 1001', '--since is missing'],
  ['events replay --client 1001 --since yesterday', '--since takes 30m, 1h or 2d'],
  [`events list --client 1001 ${since} --until 2026-09-30T00:00:00Z`, '--until is before --since'],
  [`events list --client 1001 ${since} --type template.creatd`, '--type is none of template.created'],
  ['number', 'infra/ops number DID'],
  ['number 1 --limit 20', '--limit N needs --for TIME'],
  ['number 1 --limit 0 --for 4h', '--limit takes messages a second, or none, not 0'],
  ['number 1 --limit 20 --for 8d', '7d at most, not 8d'],
  ['number 1 --limit 20 --for ever', '--for takes a time such as 30m'],
  ['number 1 --limit none --for 4h', 'without --for'],
  ['number 1 --for 4h', '--for goes with --limit N'],
  ['opt-outs import stopped.csv', '--client is missing'],
  ['opt-outs import stopped.csv --client x', '--client is not a client id: x'],
  ['opt-outs import --client 1001', 'usage: infra/ops opt-outs import'],
  ['opt-outs import a.csv b.csv --client 1001', 'usage: infra/ops opt-outs import'],
  ['opt-outs import stopped.csv --client 1001 --at-once 0', '--at-once takes 1 to 50, not 0'],
  ['opt-outs import stopped.csv --client 1001 --at-once 51', '--at-once takes 1 to 50, not 51'],
  ['put-back', 'infra/ops put-back'],
  ['put-back messages', 'infra/ops put-back'],
  ['put-back dispatch --from x', 'TABLE is one of'],
  ['redrive', 'infra/ops redrive QUEUE'],
  ['redrive fanOut', 'QUEUE is one of dispatch, urgent, counts'],
  ['redrive counts --pace 0', '--pace takes 1 to 200, not 0'],
  ['redrive counts --at-most all', '--at-most takes a number from 1 on, not all'],
])('infra/ops %s ends with status 2', async (line, message) => {
  const error = await ops(line.split(' '), () => undefined).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CommandError);
  expect(error).toMatchObject({ exitStatus: 2, message: expect.stringContaining(message) });
});
