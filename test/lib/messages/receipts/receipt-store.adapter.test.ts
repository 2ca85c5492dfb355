import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Claim, claimMemorySeconds, type DispatchKey } from '../../../../lib/messages/dispatch/claim.ts';
import { dispatchStore } from '../../../../lib/messages/dispatch/dispatch-store.ts';
import { jobStore } from '../../../../lib/messages/fan-out/job-store.ts';
import { doubtKey, jobKey } from '../../../../lib/messages/items.ts';
import { doubtStore } from '../../../../lib/messages/receipts/doubt-store.ts';
import type { Receipt } from '../../../../lib/messages/receipts/receipt.ts';
import { receiptStore } from '../../../../lib/messages/receipts/receipt-store.ts';
import { defaultEventTypes, type EventType, eventTypes } from '../../../../lib/webhooks/event.ts';
import { scenarioHead, startMs } from '../../../support/scenario-job.ts';
import { recordInBulk } from '../../../support/bulk-receipts.ts';
import { injectFaults as injectDynamoFaults } from '../../../support/dynamo-faults.ts';
import { injectFaults } from '../../../support/faults.ts';
import { lagReads } from '../../../support/lagging-reads.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';
import { thorough } from '../../../support/thorough.ts';

let table: string;
const own = localDocumentClient();
const pause = async () => undefined;

beforeAll(async () => {
  table = await freshTable('messages');
});

function storeOver(client: DynamoDBDocumentClient) {
  return receiptStore({ client, table, pause });
}

function claims(client: DynamoDBDocumentClient = own) {
  return dispatchStore({ client, table, nowMs: () => startMs });
}

function receipt(jobId: string, index: number, status = 'delivered'): Receipt {
  return { jobId, index, status, atMs: startMs + index, platformMessageId: `wamid.${index}` };
}

function headOf(jobId: string, total = 1_000) {
  return { ...scenarioHead, jobId, total };
}

function claim({ jobId, index }: DispatchKey, changes: Partial<Claim> = {}): Claim {
  return { key: { jobId, index }, state: 'claimed', at: 'run-1/0', claimedAtMs: startMs, to: '549', ...changes };
}

describe('receipts', () => {
  test('appended twice are there once, until their job is forgotten', async () => {
    const store = storeOver(own);
    const receipts = [receipt('A', 0), receipt('A', 1_000), receipt('A', 1, 'read')];
    await store.append(headOf('A', 2_000), receipts);
    await store.append(headOf('A', 2_000), receipts.toReversed());
    expect(await store.ofGroup('A', 0)).toEqual([receipts[0], receipts[2]]);
    expect(await store.ofGroup('A', 1)).toEqual([receipts[1]]);
    expect(await store.ofGroup('A', 2)).toEqual([]);
  });

  test('are seen by the dispatch at once, of this message alone', async () => {
    const lagging = localDocumentClient();
    lagReads(lagging);
    await storeOver(own).append(headOf('B'), [receipt('B', 1), receipt('B', 3)]);
    const doubts = doubtStore(lagging, table);
    const asked = [0, 1, 2, 3, 1_003].map((index) => doubts.hasReceipt({ jobId: 'B', index }));
    expect(await Promise.all(asked)).toEqual([false, true, false, true, false]);
    expect(await doubts.hasReceipt({ jobId: 'A', index: 3 })).toBe(false);
  });

  test('are read once for all who ask at once; who asks while that read runs has one of its own', async () => {
    const client = localDocumentClient();
    const { attempts } = injectFaults(client, () => undefined);
    const read = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          const reply = await next(args);
          if (commandName !== 'QueryCommand') return reply;
          read.resolve();
          await held.promise;
          return reply;
        },
      { step: 'initialize', name: 'holdReplies' },
    );
    const doubts = doubtStore(client, table);
    const ask = async (index: number) => {
      await doubts.mark({ jobId: 'Q', acceptedAtMs: startMs });
      return await doubts.hasReceipt({ jobId: 'Q', index });
    };
    const early = Array.from({ length: 10 }, (_, index) => ask(index));
    await read.promise;
    await storeOver(own).append(headOf('Q'), [receipt('Q', 1)]);
    const late = [0, 1, 2].map(ask);
    held.resolve();
    expect(await Promise.all(early)).toEqual(Array(10).fill(false));
    expect(await Promise.all(late)).toEqual([false, true, false]);
    expect(attempts.map(({ command }) => command)).toEqual(['PutItemCommand', 'QueryCommand', 'QueryCommand']);
  });

  test('that could not be read are read anew for the next that asks', async () => {
    const client = localDocumentClient();
    let broken = true;
    injectFaults(client, () => (broken ? { kind: 'fail_before' } : undefined));
    const doubts = doubtStore(client, table);
    await expect(doubts.hasReceipt({ jobId: 'Q', index: 0 })).rejects.toThrow();
    broken = false;
    expect(await doubts.hasReceipt({ jobId: 'Q', index: 0 })).toBe(false);
  });
});

describe('a doubt', () => {
  test('is written once by an instance, however many ask at once, and read strongly', async () => {
    const client = localDocumentClient();
    const { attempts } = injectFaults(client, () => undefined);
    const doubts = doubtStore(client, table);
    const job = { jobId: 'C', acceptedAtMs: startMs };
    await Promise.all(Array.from({ length: 10 }, () => doubts.mark(job)));
    await doubts.mark(job);
    expect(attempts.map(({ command }) => command)).toEqual(['PutItemCommand']);
    const lagging = localDocumentClient();
    lagReads(lagging);
    expect(await storeOver(lagging).doubtfulJobs(['C', 'D'])).toEqual(new Set(['C']));
    const { Item } = await own.send(new GetCommand({ TableName: table, Key: doubtKey('C') }));
    expect(Item?.['expiresAtSeconds']).toBe(startMs / 1_000 + claimMemorySeconds);
  });

  test('that could not be written is tried again', async () => {
    const client = localDocumentClient();
    let broken = true;
    injectFaults(client, () => (broken ? { kind: 'fail_before' } : undefined));
    const doubts = doubtStore(client, table);
    const job = { jobId: 'E', acceptedAtMs: startMs };
    await expect(Promise.all([doubts.mark(job), doubts.mark(job)])).rejects.toThrow();
    broken = false;
    await doubts.mark(job);
    expect(await storeOver(own).doubtfulJobs(['E'])).toEqual(new Set(['E']));
  });
});

describe('claims', () => {
  test('are settled as they were seen, once, and lose the reason of the doubt', async () => {
    const key = { jobId: 'F', index: 260 };
    await claims().take(claim(key, { state: 'unknown', code: 'no_answer', reason: 'silence' }));
    const store = storeOver(own);
    const seen = (await store.findClaims([key])).get('F-260');
    expect(seen).toMatchObject({ key, state: 'unknown', to: '549' });
    if (seen === undefined) return;
    const settlement = { state: 'sent', code: 'receipt', resolvedAtMs: startMs + 1 } as const;
    expect(await store.settleSeen({ ...seen, at: 'run-2/0' }, settlement)).toBe(false);
    expect(await store.settleSeen({ ...seen, state: 'claimed' }, settlement)).toBe(false);
    expect(await store.settleSeen(seen, settlement)).toBe(true);
    expect(await store.settleSeen(seen, settlement)).toBe(false);
    const { reason: _, ...rest } = seen;
    expect((await store.findClaims([key])).get('F-260')).toEqual({ ...rest, ...settlement });
    // The dispatch, whose own settlement comes late, finds it settled.
    expect(await claims().settle(key, 'run-1/0', { state: 'unknown', code: 'error' })).toBe(false);
    await claims().release(key, 'run-1/0');
    expect((await store.findClaims([key])).get('F-260')?.state).toBe('sent');
  });

  test('and their batch records are read strongly, also of keys that are left unprocessed (R32)', async () => {
    const client = localDocumentClient();
    lagReads(client);
    const attempts = injectDynamoFaults(client, (operation, attempt) =>
      operation === 'BatchGetItemCommand' && attempt <= 2 ? { kind: 'unprocessed', keep: 1 } : undefined,
    );
    const keys = [0, 1, 2].map((index) => ({ jobId: 'G', index }));
    for (const key of keys) await claims().take(claim(key));
    await claims().recordBatch('run-g', { 'G-0': { platformMessageId: 'w', held: 'paused' } });
    expect([...(await storeOver(client).findClaims(keys)).keys()].sort()).toEqual(['G-0', 'G-1', 'G-2']);
    expect(attempts.get('BatchGetItemCommand')).toBe(3);
    expect(await storeOver(client).findBatchRecords(['run-g', 'run-h'])).toEqual(
      new Map([['run-g', { 'G-0': { platformMessageId: 'w', held: 'paused' } }]]),
    );
  });
});

test('of jobs there are those that began, those that cannot be read, and no others', async () => {
  await jobStore(own, table).begin(headOf('H'), 1);
  await own.send(new PutCommand({ TableName: table, Item: { ...jobKey('I'), withdrawnAtMs: 1 } }));
  await own.send(new PutCommand({ TableName: table, Item: { ...jobKey('K'), head: '{"jobId":7}' } }));
  const heads = await storeOver(own).findHeads(['H', 'I', 'K', 'L']);
  expect(heads).toEqual(
    new Map<string, unknown>([
      ['H', headOf('H')],
      ['K', 'unreadable'],
    ]),
  );
});

test.runIf(thorough)(
  '30,000 receipts of one job, shuffled and doubled, take at most a write for ten, and none is lost',
  async () => {
    const events = new MemoryEvents();
    const wanted = async () => defaultEventTypes;
    const bulk = { client: localDocumentClient(), table, jobId: 'BULK', messages: 10_000, wanted, events };
    const { receipts, writes, lost } = await recordInBulk(bulk);
    expect(receipts).toBe(30_000);
    expect(writes).toBeGreaterThan(0);
    expect(writes / receipts).toBeLessThanOrEqual(0.1);
    expect(lost).toBe(0);
    expect(events.sent).toEqual([]);
  },
);

test('where each step is wanted, each is told under its one id, and nothing else is', async () => {
  const events = new MemoryEvents();
  const wanted = async () => new Set(eventTypes as EventType[]);
  const bulk = { client: localDocumentClient(), table, jobId: 'TOLD', messages: 1_000, wanted, events };
  expect(await recordInBulk(bulk)).toMatchObject({ receipts: 3_000, eventsLost: 0, eventsUnexpected: 0 });
});
