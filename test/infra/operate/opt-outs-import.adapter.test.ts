import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { CommandError, WouldChange } from '../../../infra/operate/command.ts';
import { optOutsImportCommand } from '../../../infra/operate/people/opt-outs-import.ts';
import { optOutLook, optOutWriter } from '../../../lib/opt-outs/opt-out-store.ts';
import { personNames } from '../../../lib/opt-outs/person-name.ts';
import { type OptOutPorts, recordOptOut } from '../../../lib/opt-outs/record-opt-out.ts';
import { type DynamoFault, injectFaults } from '../../support/dynamo-faults.ts';
import { operatorAuditInMemory, silent } from '../../support/operator-audit.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

const nowMs = Date.parse('2026-11-26T12:00:00Z');
/** The command sets this option. */
const mostlyNew = { mostlyNew: true };
const nameOf = personNames(randomBytes(32));
const sender = { clientId: 1001, wabaId: '11', phoneNumberId: '31' };
const [first, second, third] = ['5491155550001', '5491155550002', 'US.13491208655302741918'];
let table: string;

beforeEach(async () => {
  table = await freshTable('messages');
});

function access(faultOf: (operation: string, attempt: number) => DynamoFault | undefined = () => undefined) {
  const documentClient = localDocumentClient();
  injectFaults(documentClient, faultOf);
  return { client: documentClient, name: table, pause: async () => undefined };
}

const fileOf = (content: string) => {
  const path = join(mkdtempSync(join(tmpdir(), 'opt-outs-')), 'stopped.csv');
  writeFileSync(path, content);
  return path;
};

const audited = operatorAuditInMemory();

async function run(
  content: string,
  {
    options = [],
    writer = optOutWriter(access(), nameOf, mostlyNew),
  }: { options?: string[]; writer?: OptOutPorts } = {},
) {
  const lines: string[] = [];
  const directory = { hasClient: async (clientId: number) => clientId === 1001 };
  const error = await optOutsImportCommand(
    [fileOf(content), '--client', '1001', ...options],
    () => ({ directory, writer: async () => writer, audit: audited.audit }),
    {
      print: (line) => void lines.push(line),
      tell: (line) => void lines.push(line),
      progress: silent,
      nowMs: () => nowMs,
      pause: async () => undefined,
    },
  ).catch((reason: unknown) => reason);
  return { lines, error };
}

async function items() {
  const { Items = [] } = await localDocumentClient().send(new ScanCommand({ TableName: table, ConsistentRead: true }));
  return Items.toSorted((a, b) => `${a['pk']}${a['sk']}`.localeCompare(`${b['pk']}${b['sk']}`));
}
/** The versions and times of writes differ in every run. */
const said = async () => (await items()).map(({ version: _, writer: __, listedAtMs: ___, ...rest }) => rest);
const stopsOf = (clientId: number, ...recipients: string[]) =>
  optOutLook(access(), async () => nameOf).stoppedAmong({ ...sender, clientId }, recipients);

test('all people of the file are stopped for the client and listed for it; others are not (D55)', async () => {
  const { lines, error } = await run(
    `recipient,at\n+${first},2026-11-22T10:00:00Z\n"${second}",\n${third},\n${second},\n`,
  );
  expect([error, lines]).toEqual([
    undefined,
    ['3 people, named again 1 times', 'new: 3, stopped already: 0, started later by the client: 0'],
  ]);
  const line = { what: 'command.opt_outs_import', on: { clientId: 1001, count: 3 } };
  expect(audited.entries).toMatchObject(['begun', 'done'].map((outcome) => ({ ...line, outcome })));
  expect(await stopsOf(1001, first, second, third, '5491155550009')).toEqual(
    new Map([
      [first, { says: 'stopped', atMs: Date.parse('2026-11-22T10:00:00Z'), source: 'import' }],
      [second, { says: 'stopped', atMs: nowMs, source: 'import' }],
      [third, { says: 'stopped', atMs: nowMs, source: 'import' }],
    ]),
  );
  expect(await stopsOf(1002, first, second, third)).toEqual(new Map());
  // Workers look for opt-outs only when the sender has this mark.
  const look = optOutLook(access(), async () => nameOf);
  expect([await look.anyFor(sender), await look.anyFor({ ...sender, clientId: 1002 })]).toEqual([true, false]);
  const listed = (await items()).filter(({ pk, sk }) => pk === 'OPTOUTS#client:1001' && sk !== 'ANY');
  expect(listed.map(({ recipient }) => recipient).sort()).toEqual([first, second, third]);
});

test('a bad row anywhere: all faults at once, each by its line, and nothing is written', async () => {
  const { lines, error } = await run(`recipient\n${first}\n12 34\n${second}\n"${third}\n`);
  expect(lines).toEqual([]);
  expect(error).toBeInstanceOf(CommandError);
  expect(error).toMatchObject({ exitStatus: 1 });
  expect(
    String((error as Error).message)
      .split('\n')
      .slice(1),
  ).toEqual([
    'line 3: recipient must be 8 to 15 digits with an optional +, or a business-scoped user id, received "12 34"',
    `line 5: the quotes do not fit, received "\\"${third}"`,
  ]);
  expect(await items()).toEqual([]);
});

test('of more than a hundred faults the message says how many more there are', async () => {
  const { error } = await run(`recipient\n${'x\n'.repeat(103)}`);
  expect((error as Error).message).toMatch(/ has 103 faults\.\nline 2: [\s\S]*\nand 3 more$/);
});

test('a dry run judges and counts, and writes nothing', async () => {
  audited.entries.length = 0;
  const { lines, error } = await run(`recipient\n${first}\n${second}\n`, { options: ['--dry-run'] });
  expect(lines).toEqual(['2 people']);
  expect(error).toEqual(new WouldChange('dry run: nothing was written, nor looked up who is stopped already'));
  expect(await run('recipient\n', { options: ['--dry-run'] })).toEqual({ lines: ['0 people'], error: undefined });
  expect((await run('recipient\nx\n', { options: ['--dry-run'] })).error).toMatchObject({ exitStatus: 1 });
  expect([await items(), audited.entries]).toEqual([[], []]);
});

test('a header alone writes no people', async () => {
  const { lines } = await run('recipient\r\n');
  expect(lines.at(-1)).toBe('new: 0, stopped already: 0, started later by the client: 0');
  expect(await items()).toEqual([]);
});

test('a second run changes nothing and says so; what the client has started after the time of the file stands', async () => {
  const content = `recipient,at\n${first},2026-11-22T10:00:00Z\n${second},2026-11-22T10:00:00Z\n`;
  await run(content);
  const before = await items();
  expect((await run(content)).lines.at(-1)).toBe('new: 0, stopped already: 2, started later by the client: 0');
  expect(await items()).toEqual(before);

  const scope = { kind: 'client', clientId: 1001 } as const;
  const word = { says: 'started', atMs: Date.parse('2026-11-23T10:00:00Z'), source: 'api' } as const;
  await recordOptOut({ scope, recipients: [first], word, listedFor: 1001 }, optOutWriter(access(), nameOf));
  expect((await run(content)).lines.at(-1)).toBe('new: 0, stopped already: 1, started later by the client: 1');
  expect([...(await stopsOf(1001, first, second)).keys()]).toEqual([second]);
});

test('a person takes two requests, new or known: nothing is read first', async () => {
  const documentClient = localDocumentClient();
  const attempts = injectFaults(documentClient, () => undefined);
  const messages = { client: documentClient, name: table, pause: async () => undefined };
  const writer = optOutWriter(messages, nameOf, mostlyNew);
  const content = `recipient,at\n${first},2026-11-22T10:00:00Z\n${second},2026-11-22T10:00:00Z\n`;
  await run(content, { writer, options: ['--at-once', '1'] });
  expect(Object.fromEntries(attempts)).toEqual({ PutItemCommand: 1 + 2, UpdateItemCommand: 2 });
  await run(content, { writer, options: ['--at-once', '1'] });
  expect(Object.fromEntries(attempts)).toEqual({ PutItemCommand: 1 + 2 * 2, UpdateItemCommand: 2 * 2 });
});

describe('a run that dies', () => {
  const content = `recipient,at\n${Array.from({ length: 12 }, (_, at) => `${54_911_500 + at}0000,2026-11-22T10:00:00Z`).join('\n')}\n`;

  test.each([1, 5, 14, 24])('at its write %i is completed by the same command, whatever was half done', async (at) => {
    await run(content);
    const whole = await said();
    table = await freshTable('messages');
    const dead = { kind: 'throw', error: new Error('the machine is gone') } as const;
    let made = 0;
    const dying = optOutWriter(
      access(() => {
        made += 1;
        return made >= at ? dead : undefined;
      }),
      nameOf,
    );
    const { lines, error } = await run(content, { writer: dying, options: ['--at-once', '4'] });
    expect(error).toBeInstanceOf(Error);
    expect(lines.at(-1)).toMatch(/^\d+ of 12 people are written; the same command writes the rest$/);
    expect(await said()).not.toEqual(whole);
    expect((await run(content)).error).toBeUndefined();
    expect(await said()).toEqual(whole);
  });
});

test('what the tables refuse because it comes too fast is tried again; what they refuse for good ends the run', async () => {
  const content = `recipient\n${first}\n${second}\n`;
  const writer = optOutWriter(access(), nameOf, mostlyNew);
  const refusing = (name: string, times: number): OptOutPorts => {
    let left = times;
    const change: OptOutPorts['change'] = async (...asked) => {
      left -= 1;
      if (left >= 0) throw Object.assign(new Error('refused'), { name });
      return await writer.change(...asked);
    };
    return { ...writer, change };
  };
  const fast = await run(content, { writer: refusing('ProvisionedThroughputExceededException', 10) });
  expect([fast.error, fast.lines.at(-1)]).toEqual([
    undefined,
    'new: 2, stopped already: 0, started later by the client: 0',
  ]);
  expect((await run(content, { writer: refusing('AccessDeniedException', 1) })).error).toMatchObject({
    name: 'AccessDeniedException',
  });
  expect((await run(content, { writer: refusing('ThrottlingException', 1_000) })).error).toMatchObject({
    name: 'ThrottlingException',
  });
});

test.each([
  [['stopped.csv', '--client', '7'], 'There is no client 7.'],
  [['/nowhere/stopped.csv', '--client', '1001'], 'There is no file /nowhere/stopped.csv.'],
  [['/', '--client', '1001'], '/ cannot be read (EISDIR).'],
])('a wrong line is told in a sentence: %j', async (typed, message) => {
  const directory = { hasClient: async (clientId: number) => clientId === 1001 };
  const writer = async () => optOutWriter(access(), nameOf);
  const ignored = () => undefined;
  const attempt = optOutsImportCommand(typed, () => ({ directory, writer, audit: audited.audit }), {
    print: ignored,
    tell: ignored,
    progress: silent,
    nowMs: () => nowMs,
  });
  await expect(attempt).rejects.toThrow(CommandError);
  await expect(attempt).rejects.toThrow(message);
});
