import { beforeAll, describe, expect, test } from 'vitest';
import { CommandError } from '../../../infra/operate/command.ts';
import type { Progress } from '../../../infra/operate/progress.ts';
import { auditCommand } from '../../../infra/operate/see/audit.ts';
import { auditReader } from '../../../lib/audit/audit-reading-store.ts';
import { auditWriter } from '../../../lib/audit/audit-store.ts';
import type { AuditEntry } from '../../../lib/audit/entry.ts';
import { tableOf } from '../../../lib/aws/table.ts';
import { operatorAuditInMemory } from '../../support/operator-audit.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

const documentClient = localDocumentClient();
const nowMs = Date.parse('2026-11-26T12:00:00Z');
const hourMs = 3_600_000;

const done = { who: 'agent1001', outcome: 'done', on: {} } as const;
const entries: readonly AuditEntry[] = [
  { ...done, whose: 1001, id: 'a', atMs: nowMs - 3 * hourMs, what: 'login' },
  {
    ...{ whose: 1001, id: 'b', atMs: nowMs - 2 * hourMs, what: 'template.created', outcome: 'unknown' },
    ...{ who: 'operator', ofClientId: 1, on: { wabaId: '2000', documentIds: ['x', 'y\u001b[2J'] } },
  },
  { ...done, whose: 1002, id: 'c', atMs: nowMs - hourMs, what: 'campaign.cancelled', on: { campaignId: 10, count: 3 } },
  {
    ...{ ...done, whose: 'OPERATOR', id: 'd', atMs: nowMs, what: 'command.redrive', outcome: 'begun' },
    ...{ who: 'arn:aws:iam::1:user/x', on: { queue: 'dispatch', count: 7 } },
  },
  { ...done, whose: 1001, id: 'e', atMs: nowMs - 8 * 24 * hourMs, what: 'webhook.changed' },
];

let table: string;
beforeAll(async () => {
  table = await freshTable('audit');
  const append = auditWriter(documentClient, table);
  for (const entry of entries) await append(entry);
});

const told: string[] = [];
async function run(...typed: string[]): Promise<string[]> {
  const lines: string[] = [];
  const progress: Progress = (words, work) => work().finally(() => told.push(words()));
  const tell = (line: string) => void told.push(line);
  const at = { entries: auditReader(tableOf(documentClient, table)), listClientIds: async () => [1002, 1001] };
  await auditCommand(typed, () => at, { print: (line) => void lines.push(line), tell, progress, nowMs: () => nowMs });
  return lines;
}

const headings = 'AT CLIENT WHO OF_CLIENT WHAT OUTCOME ON';
const login = '2026-11-26T09:00:00.000Z 1001 agent1001 - login done -';
const created = '2026-11-26T10:00:00.000Z 1001 operator 1 template.created unknown waba_id 2000 document_ids x,y[2J';
const cancelled = '2026-11-26T11:00:00.000Z 1002 agent1001 - campaign.cancelled done campaign_id 10 count 3';
const redriven = '2026-11-26T12:00:00.000Z - arn:aws:iam::1:user/x - command.redrive begun queue dispatch count 7';

test.each([
  [[], [login, created, cancelled, redriven]],
  [['--client', '1002'], [cancelled]],
  [
    ['--user', 'agent1001'],
    [login, cancelled],
  ],
  [['--what', 'template'], [created]],
  [['--what', 'command.redrive'], [redriven]],
  [
    ['--since', '90m'],
    [cancelled, redriven],
  ],
  [
    ['--since', '2026-11-26T10:00:00Z', '--until', '2026-11-26T11:00:00Z'],
    [created, cancelled],
  ],
])('%j tells who did what, in order of time, without signs that a terminal obeys', async (typed, lines) => {
  const found = await run(...typed);
  // Facts have no order in the table.
  const sorted = (line: string) => line.split(/ +/).toSorted().join(' ');
  expect(found.map(sorted)).toEqual([headings, ...lines].map(sorted));
});

test('--json has the same facts, and older lines are found by --since', async () => {
  const [text = ''] = await run('--client', '1001', '--since', '400d', '--json');
  expect(JSON.parse(text)).toMatchObject([
    { at: '2026-11-18T12:00:00.000Z', client_id: 1001, who: 'agent1001', what: 'webhook.changed', outcome: 'done' },
    { what: 'login' },
    { what: 'template.created', of_client_id: 1, on: { waba_id: '2000' } },
  ]);
  expect(text).not.toMatch(/"\w*[A-Z]\w*":/);
  expect(told.at(-1)).toBe('1 of 1 lists are read, 3 lines found');
});

test('where nothing was done the list is empty, and a sentence beside it says so', async () => {
  expect(await run('--user', 'stranger', '--json')).toEqual(['[]']);
  expect(await run('--user', 'stranger')).toEqual([headings.replaceAll(' ', '  ')]);
  expect(told.at(-1)).toBe('Nothing was done in this time, or nothing of that kind.');
});

describe('a command of an operator', () => {
  test('stands between two lines, of which the second names the first', async () => {
    const { audit, entries } = operatorAuditInMemory();
    expect(await audit('command.rotate_keys', { how: 'tokens' }, async () => entries.length)).toBe(1);
    const line = { whose: 'OPERATOR', who: 'someone', what: 'command.rotate_keys', on: { how: 'tokens' } };
    expect(entries).toEqual([
      { ...line, outcome: 'begun', id: 'id-1', atMs: expect.any(Number) },
      { ...line, outcome: 'done', id: 'id-2', ends: 'id-1', atMs: expect.any(Number) },
    ]);
  });

  test('that fails says so, and tells its own failure', async () => {
    const { audit, entries } = operatorAuditInMemory();
    const failing = audit('command.erase', {}, async () => {
      throw new CommandError('something is left', 1);
    });
    await expect(failing).rejects.toThrow('something is left');
    expect(entries.map(({ outcome }) => outcome)).toEqual(['begun', 'failed']);
  });

  test('does nothing where it cannot be noted that it begins', async () => {
    const memory = operatorAuditInMemory();
    memory.broken = true;
    let acts = 0;
    const attempt = memory.audit('command.redrive', { queue: 'dispatch' }, async () => ++acts);
    await expect(attempt).rejects.toMatchObject({
      exitStatus: 1,
      message: expect.stringMatching(/^Nothing was done: /),
    });
    expect(acts).toBe(0);
  });

  test('that has ended is done, though its end could not be noted, and says so', async () => {
    const memory = operatorAuditInMemory();
    const work = async () => {
      memory.broken = true;
      return 'well';
    };
    expect(await memory.audit('command.redrive', {}, work)).toBe('well');
    expect(memory.told).toEqual([expect.stringMatching(/^done, but that it ended could not be noted/)]);
  });
});
