import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { type AuditPorts, audited, type PerformedAct, usersAudit } from '../../../lib/audit/audit.ts';
import { auditReader } from '../../../lib/audit/audit-reading-store.ts';
import { auditWriter } from '../../../lib/audit/audit-store.ts';
import type { AuditEntry } from '../../../lib/audit/entry.ts';
import { documentClient } from '../../../lib/aws/dynamodb.ts';
import { tableOf } from '../../../lib/aws/table.ts';
import { Refusal } from '../../../lib/http/refusal.ts';
import { MemoryAudit } from '../../support/memory-audit.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

const client = localDocumentClient();
const caller = { userId: 'agent1001', clientId: 1001 };
const deed: PerformedAct = { caller, clientId: 1001, act: 'template.created', on: { wabaId: '2000', templateId: '9' } };
const atMs = Date.parse('2026-11-30T23:59:59.999Z');

let table: string;
beforeEach(async () => {
  table = await freshTable('audit');
});
const items = async () => (await client.send(new ScanCommand({ TableName: table }))).Items ?? [];

function auditOn(append: AuditPorts['append']) {
  const told: unknown[] = [];
  const audit = usersAudit({
    append,
    nowMs: () => atMs,
    newId: () => 'id-1',
    log: (event, facts) => void told.push([event, facts]),
    count: (name) => void told.push(name),
  });
  return { audit, told };
}

test('a line is an item of its client and month, for 400 days', async () => {
  const { audit, told } = auditOn(auditWriter(client, table));
  await audit.note(deed, 'done');
  expect(await items()).toEqual([
    {
      ...{ pk: 'AUDIT#1001#2026-11', sk: '2026-11-30T23:59:59.999Z#id-1', who: 'agent1001' },
      ...{ what: 'template.created', on: { wabaId: '2000', templateId: '9' }, outcome: 'done' },
      expiresAtSeconds: (atMs + 1) / 1_000 + 400 * 86_400,
    },
  ]);
  expect(told).toEqual([]);
});

test('what was done for another client is among the lines of that one, and says whose user it was', async () => {
  await auditOn(auditWriter(client, table)).audit.note({ ...deed, clientId: 1002 }, 'done');
  expect(await items()).toMatchObject([{ pk: 'AUDIT#1002#2026-11', who: 'agent1001', ofClientId: 1001 }]);
});

test('a line is never changed: an attempt that comes again leaves the first, and is no failure', async () => {
  const { audit, told } = auditOn(auditWriter(client, table));
  await audit.note(deed, 'done');
  await audit.note({ ...deed, act: 'template.deleted' }, 'unknown');
  expect(await items()).toMatchObject([{ what: 'template.created', outcome: 'done' }]);
  expect(told).toEqual([]);
});

test('a period is read in order, over months, and no line of another client', async () => {
  const append = auditWriter(client, table);
  const entry = (id: string, at: string, whose: AuditEntry['whose'] = 1001): AuditEntry => ({
    ...{ whose, id, atMs: Date.parse(at), who: 'agent1001', what: 'template.enabled', outcome: 'done' },
    on: { documentIds: ['a', 'b'] },
  });
  const kept = [
    entry('id-2', '2026-10-31T10:00:00.000Z'),
    entry('id-3', '2026-11-15T10:00:00.000Z'),
    entry('id-4', '2026-12-01T00:00:00.000Z'),
  ];
  const others = [
    entry('id-1', '2026-10-31T09:59:59.999Z'),
    entry('id-5', '2026-12-01T00:00:00.001Z'),
    entry('id-6', '2026-11-15T10:00:00.000Z', 1002),
    entry('id-7', '2026-11-15T10:00:00.000Z', 'OPERATOR'),
  ];
  for (const each of [...others, ...kept.toReversed()]) await append(each);
  const found: AuditEntry[] = [];
  const period = { fromMs: Date.parse('2026-10-31T10:00:00Z'), toMs: Date.parse('2026-12-01T00:00:00Z') };
  for await (const page of auditReader(tableOf(client, table))(1001, period)) found.push(...page);
  expect(found).toEqual(kept);
});

describe('a table that does not take the line', () => {
  const facts = { clientId: 1001, userId: 'agent1001', act: 'template.created', wabaId: '2000', templateId: '9' };

  test('leaves the facts in the log, counted, and fails nothing', async () => {
    const { audit, told } = auditOn(auditWriter(client, 'nowhere'));
    await audit.note(deed, 'done');
    expect(told).toEqual([
      ['audit.not_written', expect.objectContaining({ ...facts, outcome: 'done', error: 'ResourceNotFoundException' })],
      'AuditNotWritten',
    ]);
  });

  test('and one that is silent is waited for a second, no DID in the log (R44)', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const away = documentClient({ region: 'r', credentials: { accessKeyId: 'a', secretAccessKey: 'b' }, endpoint });
    const { audit, told } = auditOn(auditWriter(away, table));
    await audit.note({ ...deed, on: { did: '5491100000001' } }, 'done');
    silent.close();
    // The adapter's deadline aborts the write; the client's own timeout with its retries is twelve times as long.
    const aborted = expect.objectContaining({ clientId: 1001, error: 'AbortError' });
    expect(told).toEqual([['audit.not_written', aborted], 'AuditNotWritten']);
    expect(JSON.stringify(told)).not.toContain('5491100000001');
  });
});

describe('what is noted of a request', () => {
  const ended = async (work: () => Promise<unknown>, found?: (result: unknown) => PerformedAct['on'] | undefined) => {
    const audit = new MemoryAudit();
    const error = await audited(audit, deed, work, found).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return { error, noted: audit.noted.map(({ on, outcome }) => ({ on, outcome })) };
  };

  test('what was done, with what its result says', async () => {
    const { noted } = await ended(
      async () => 5,
      () => ({ count: 5 }),
    );
    expect(noted).toEqual([{ on: { ...deed.on, count: 5 }, outcome: 'done' }]);
  });

  test('nothing, where its result says that nothing was changed, or where it was refused', async () => {
    const unchanged = await ended(
      async () => 5,
      () => undefined,
    );
    expect(unchanged.noted).toEqual([]);
    const refusal = new Refusal('invalid_request', 'no');
    const refused = await ended(async () => {
      throw refusal;
    });
    expect(refused).toEqual({ error: refusal, noted: [] });
  });

  test.each([new Refusal('platform_unreachable', 'late'), new Error('the table is away')])(
    'unknown, where it may have been done: %s',
    async (error) => {
      const late = await ended(async () => {
        throw error;
      });
      expect(late).toEqual({ error, noted: [{ on: deed.on, outcome: 'unknown' }] });
    },
  );
});
