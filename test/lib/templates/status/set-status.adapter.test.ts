import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import type { Directory } from '../../../../lib/access/directory.ts';
import { assignmentStore } from '../../../../lib/templates/assignments/assignment-store.ts';
import { addPairs } from '../../../../lib/templates/assignments/pairs.ts';
import { rowKey } from '../../../../lib/templates/model/items.ts';
import type { TemplateRow } from '../../../../lib/templates/model/row.ts';
import { rowStore } from '../../../../lib/templates/model/row-store.ts';
import { templateKey } from '../../../../lib/templates/model/template-key.ts';
import { templateStore } from '../../../../lib/templates/model/template-store.ts';
import type { StatusAction } from '../../../../lib/templates/status/bulk-status.ts';
import { setStatus } from '../../../../lib/templates/status/set-status.ts';
import { statusStore } from '../../../../lib/templates/status/status-store.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../../../support/directory.ts';
import { type DynamoFault, injectFaults } from '../../../support/dynamo-faults.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';
import { makeTemplate } from '../../../support/templates.ts';
import { thorough } from '../../../support/thorough.ts';

const wabaId = '200000000000001';
const documentClient = localDocumentClient();
const supervisor = { userId: 'u-1', clientId: 1001, crossClient: false };
const directory = memoryDirectory({
  wabas: [makeWaba({ wabaId })],
  channels: [makeChannel()],
  campaigns: [{ campaignId: 10, clientId: 1001, name: 'Onboarding' }],
  users: [{ userId: 'u-1', username: 'supervisor1001', clientId: 1001, permissions: [], campaignIds: [10] }],
});
let table: string;
let count = 0;

beforeAll(async () => {
  table = await freshTable('templates');
});

/** Stores active templates of client 1001, assigned to its channel and campaign. */
async function newRows(amount: number): Promise<TemplateRow[]> {
  const templates = Array.from({ length: amount }, () => {
    count += 1;
    return makeTemplate({ name: `t_${count}` });
  });
  await templateStore(documentClient, table).writeUpstream(
    templates.map((template) => ({ kind: 'present', wabaId, template, clientIds: [1001], readAtMs: 10 })),
  );
  const rows = await read(templates.map((template) => templateKey({ ...template, wabaId })));
  const assignments = assignmentStore(documentClient, table);
  const pairs = [{ channelId: 501, campaignId: 10 }];
  const assigned: TemplateRow[] = [];
  for (let start = 0; start < rows.length; start += 50) {
    const updates = rows
      .slice(start, start + 50)
      .map((row) => assignments.update(row, (current) => addPairs(current, pairs)));
    for (const changed of await Promise.all(updates)) if (changed !== undefined) assigned.push(changed);
  }
  return assigned;
}

async function read(keys: readonly string[]): Promise<TemplateRow[]> {
  const names = keys.map((key) => ({ clientId: 1001, templateKey: key }));
  const rows = await rowStore(documentClient, table).findRows(names);
  return names.flatMap((name) => rows(name) ?? []);
}
const keysOf = (rows: readonly TemplateRow[]) => rows.map((row) => row.templateKey);
const idOf = (row: TemplateRow) => row.documents[0]?.id ?? '';

function set(client: typeof documentClient, rows: readonly TemplateRow[], action: StatusAction, own = directory) {
  const pause = async () => {};
  const stores = { directory: own, rows: rowStore(client, table, pause), status: statusStore(client, table, pause) };
  return setStatus(
    stores,
    { caller: supervisor, askedId: undefined },
    rows.map((row) => ({ id: idOf(row), action })),
  );
}

/** Runs `interferes` once, between reading and writing, at the first lookup of campaigns. */
function directoryThat(interferes: () => Promise<unknown>): Directory {
  let done = false;
  return {
    ...directory,
    listCampaigns: async (clientId) => {
      if (!done) await interferes();
      done = true;
      return directory.listCampaigns(clientId);
    },
  };
}

async function change(row: TemplateRow, expression: string, values: Record<string, unknown>) {
  await documentClient.send(
    new UpdateCommand({
      TableName: table,
      Key: rowKey(1001, row.templateKey),
      UpdateExpression: expression,
      ExpressionAttributeValues: values,
    }),
  );
}

function faulty(faultOf: (operation: string, attempt: number) => DynamoFault | undefined) {
  const client = localDocumentClient();
  return { client, attempts: injectFaults(client, faultOf) };
}

test.runIf(thorough)(
  '1,000 items: ten reads side by side, ten writes side by side, no more than 12 round trips',
  async () => {
    const rows = await newRows(1_000);
    const client = localDocumentClient();
    let [running, waves, requests] = [0, 0, 0];
    client.middlewareStack.add(
      (next) => async (args) => {
        if (running === 0) waves += 1;
        running += 1;
        requests += 1;
        try {
          return await next(args);
        } finally {
          running -= 1;
        }
      },
      { step: 'initialize', name: 'waves' },
    );
    expect((await set(client, rows, 'disable')).filter(({ success }) => success)).toHaveLength(1_000);
    expect({ requests, waves }).toEqual({ requests: 20, waves: 2 });
    expect((await set(client, rows, 'enable')).filter(({ success }) => success)).toHaveLength(1_000);
    // The directory adds one round trip for its channels and campaigns.
    expect({ requests, waves }).toEqual({ requests: 40, waves: 4 });
    expect((await read(keysOf(rows))).every((row) => row.active)).toBe(true);
  },
);

test('only the flag is written', async () => {
  const [row] = (await newRows(1)) as [TemplateRow];
  await set(documentClient, [row], 'disable');
  expect(await read([row.templateKey])).toEqual([{ ...row, active: false }]);
});

test('two calls that race: one succeeds on each template, the other is told', async () => {
  const rows = await newRows(120);
  const results = (await Promise.all([1, 2, 3].map(() => set(documentClient, rows, 'disable')))).flat();
  for (const row of rows) {
    const ofRow = results
      .filter(({ id }) => id === idOf(row))
      .map(({ success, reason }) => (success ? 'success' : reason));
    expect(ofRow.sort()).toEqual(['already_disabled', 'already_disabled', 'success']);
  }
  expect((await read(keysOf(rows))).some((row) => row.active)).toBe(false);
});

test.each([
  ['its assignments go', 'SET d = :value', { ':value': '0' }, 'channel_unassigned'],
  ['the platform pauses it', 'SET s = :value', { ':value': 'U' }, 'template_not_approved'],
  ['it is deleted', 'SET g = :value', { ':value': true }, 'not_found'],
  ['somebody enables it', 'SET a = :value', { ':value': true }, 'already_enabled'],
  ['it is assigned once more', 'SET d = :value', { ':value': '0:501:10 1:501:11' }, 'success'],
])(
  '%s between reading and writing: decided again; its neighbours are written',
  async (_, expression, values, reason) => {
    const rows = await newRows(3);
    await set(documentClient, rows, 'disable');
    const [touched, ...others] = rows as [TemplateRow, ...TemplateRow[]];
    const meddling = directoryThat(() => change(touched, expression, values));
    const results = await set(documentClient, rows, 'enable', meddling);
    expect(results.map(({ success, reason }) => (success ? 'success' : reason))).toEqual([
      reason,
      'success',
      'success',
    ]);
    const [now, ...othersNow] = await read(keysOf([touched, ...others]));
    expect(now?.active).toBe(reason === 'success' || reason === 'already_enabled');
    expect(othersNow.map((row) => row.active)).toEqual([true, true]);
  },
);

test('a lost reply to a write still answers success', async () => {
  const rows = await newRows(2);
  const losing = faulty((operation, attempt) =>
    operation === 'TransactWriteItemsCommand' && attempt === 1 ? { kind: 'lose_reply' } : undefined,
  );
  const results = await set(losing.client, rows, 'disable');
  expect(results.map(({ success }) => success)).toEqual([true, true]);
  expect(losing.attempts.get('TransactWriteItemsCommand')).toBe(2);
});

test('conflicts with other transactions and unprocessed keys are repeated (R32)', async () => {
  const rows = await newRows(5);
  const conflict = new TransactionCanceledException({
    message: 'cancelled',
    $metadata: {},
    CancellationReasons: [{ Code: 'TransactionConflict' }],
  });
  const { client, attempts } = faulty((operation, attempt) => {
    if (attempt > 2) return undefined;
    return operation === 'BatchGetItemCommand' ? { kind: 'unprocessed', keep: 1 } : { kind: 'throw', error: conflict };
  });
  const results = await set(client, rows, 'disable');
  expect(results.every(({ success }) => success)).toBe(true);
  expect(Object.fromEntries(attempts)).toEqual({ BatchGetItemCommand: 3, TransactWriteItemsCommand: 3 });
});

test('a template of a WABA that the client has left is not found, and stays as it is', async () => {
  const rows = await newRows(1);
  const left = { ...directory, listWabas: async () => [makeWaba({ wabaId: '200000000000009' })] };
  expect(await set(documentClient, rows, 'disable', left)).toMatchObject([{ success: false, reason: 'not_found' }]);
  expect(await read(keysOf(rows))).toEqual(rows);
  expect(await set(documentClient, rows, 'disable')).toMatchObject([{ success: true }]);
});
