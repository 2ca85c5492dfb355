import { beforeEach, expect, test } from 'vitest';
import demo from '../../../infra/local/demo/provisioning.json' with { type: 'json' };
import { WouldChange } from '../../../infra/operate/command.ts';
import { credentialCommand } from '../../../infra/operate/keys/credential.ts';
import { readCredentials } from '../../../infra/operate/stored-credentials.ts';
import { provision } from '../../../infra/operate/tables/provisioning-run.ts';
import type { Target } from '../../../infra/operate/target.ts';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import type { PlatformCall } from '../../../lib/platform/transport.ts';
import { provisioningStore } from '../../../lib/provisioning/provisioning-store.ts';
import { operatorAuditInMemory } from '../../support/operator-audit.ts';
import { provisioningTarget } from '../../support/provisioning-target.ts';
import type { secretsInMemory } from '../../support/secrets.ts';
import { localDocumentClient } from '../../support/stores.ts';

const documentClient = localDocumentClient();
const nowMs = () => Date.UTC(2026, 10, 26, 12);
const [first, second] = ['200000000000001', '200000000000002'];
let secrets: ReturnType<typeof secretsInMemory>;
let target: Target;
let calls: PlatformCall[];
let failure: PlatformFailure | undefined;

beforeEach(async () => {
  ({ target, secrets } = await provisioningTarget());
  calls = [];
  failure = undefined;
  const other = { name: 'other', access_token: 'other-token', app_id: '1' };
  await provision({ ...demo, platform_credentials: [...demo.platform_credentials, other] }, target, { nowMs });
});

const audited = operatorAuditInMemory();

async function run(input: string, ...typed: string[]) {
  const lines: string[] = [];
  const error = await credentialCommand(
    typed,
    () => ({
      target,
      audit: audited.audit,
      platform: async (call) => {
        calls.push(call);
        if (failure !== undefined && call.path.startsWith(second ?? '')) throw failure;
        return { body: { data: [] } };
      },
    }),
    { print: (line) => void lines.push(line), readInput: async () => input, nowMs },
  ).catch((reason: unknown) => reason);
  return { lines, error };
}

const stored = async () => (await readCredentials(target)).credentials;

test('gives the credential of a WABA another token, asked first for every WABA that shares it; others stay', async () => {
  const before = await stored();
  const { lines, error } = await run('a-new-token\n', first ?? '', '--token', '-', '--yes');
  expect(error).toBeUndefined();
  expect(calls.map(({ path, method, accessToken }) => [path, method, accessToken])).toEqual([
    [`${first}/subscribed_apps`, 'GET', 'a-new-token'],
    [`${second}/subscribed_apps`, 'GET', 'a-new-token'],
  ]);
  expect(lines[0]).toBe(`credential demo has the new token: WABA ${first}, ${second}`);
  expect(lines.join('\n')).not.toContain('a-new-token');
  const line = { whose: 'OPERATOR', who: 'someone', what: 'command.credential' };
  expect(audited.entries).toMatchObject(['begun', 'done'].map((outcome) => ({ ...line, outcome })));
  expect(audited.entries[0]?.on).toEqual({ wabaId: first, credential: 'demo' });
  expect(await stored()).toEqual({ ...before, demo: { accessToken: 'a-new-token', appId: '500000000000001' } });
  expect((await run('a-new-token', first ?? '', '--token', '-', '--yes')).lines).toEqual([
    'credential demo: that is the token that it has',
  ]);
});

test('without --yes it asks the platform, says whose token it would be, and writes nothing', async () => {
  const before = await stored();
  audited.entries.length = 0;
  const { lines, error } = await run('a-new-token', first ?? '', '--token', '-');
  expect([error, lines]).toEqual([
    new WouldChange('nothing was written: repeat with --yes'),
    [`credential demo would get the token: WABA ${first}, ${second}; the platform takes it for each`],
  ]);
  expect([calls.length, await stored(), audited.entries]).toEqual([2, before, []]);
  const own = before['demo']?.accessToken ?? '';
  expect(await run(own, first ?? '', '--token', '-')).toEqual({
    lines: ['credential demo: that is the token that it has'],
    error: undefined,
  });
});

test('a token that the platform refuses for one of them, or does not answer for, is not written', async () => {
  const before = await stored();
  audited.entries.length = 0;
  failure = new PlatformFailure('refused', { code: 190, httpStatus: 401 });
  const { error } = await run('a-bad-token', first ?? '', '--token', '-', '--yes');
  expect(error).toMatchObject({
    exitStatus: 1,
    message: expect.stringContaining(`refuses the token for WABA ${second}`),
  });
  expect(String(error)).not.toContain('a-bad-token');
  failure = new PlatformFailure('ambiguous', {});
  expect((await run('a-new-token', first ?? '', '--token', '-', '--yes')).error).toMatchObject({
    message: expect.stringContaining('--unchecked'),
  });
  expect(audited.entries).toEqual([]);
  expect(await stored()).toEqual(before);
  calls = [];
  await run('a-new-token', first ?? '', '--token', '-', '--unchecked', '--yes');
  expect([calls, (await stored())['demo']?.accessToken]).toEqual([[], 'a-new-token']);
});

test('while a run of provisioning is under way nothing is written; afterwards its lock is free', async () => {
  const before = await stored();
  const { tableName } = target;
  const under = await provisioningStore({ documentClient, tableName, nowMs }).begin('other');
  const { error } = await run('a-new-token', first ?? '', '--token', '-', '--yes');
  expect(error).toMatchObject({ exitStatus: 1, message: expect.stringContaining('another run of provisioning') });
  expect(await stored()).toEqual(before);
  await under.end();
  await run('a-new-token', first ?? '', '--token', '-', '--yes');
  await provisioningStore({ documentClient, tableName, nowMs }).assertFree();
});

test.each([
  ['token-of-text', ['9', '--token', '-'], 1, 'There is no WABA 9'],
  ['short', [first ?? '', '--token', '-'], 2, 'at least 8 characters'],
  ['two secret-words', [first ?? '', '--token', '-'], 2, 'more than one word'],
  ['secret\0token', [first ?? '', '--token', '-'], 2, 'must be ASCII'],
  ['secret-tokén', [first ?? '', '--token', '-'], 2, 'must be ASCII'],
])('%j %j is refused with status %i, and the token is not shown', async (input, typed, exitStatus, message) => {
  const before = secrets.written.length;
  const { error } = await run(input, ...typed);
  expect(error).toMatchObject({ exitStatus, message: expect.stringContaining(message) });
  expect(String((error as Error).message)).not.toContain(input);
  expect(secrets.written).toHaveLength(before);
});
