import { beforeAll, describe, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { dispatchItemStore } from '../../../../lib/messages/dispatch/item-store.ts';
import { dispatchKey } from '../../../../lib/messages/dispatch/items.ts';
import { type Outcome, type Slice, withdrawn } from '../../../../lib/messages/dispatch/slice.ts';
import { sliceItemOf, sliceKeyOf } from '../../../../lib/messages/dispatch/slice-items.ts';
import { sliceStore } from '../../../../lib/messages/dispatch/slice-store.ts';
import { packedAddresses } from '../../../../lib/messages/dispatch/whole-dispatch.ts';
import { cancelDispatch } from '../../../../lib/messages/report/cancel.ts';
import { countsOf, describedDispatch, openReport, readPage } from '../../../../lib/messages/report/read-report.ts';
import { reportAnswer, statesOf } from '../../../../lib/messages/report/report.ts';
import { isPlaceIn, reportPlaceOf } from '../../../../lib/messages/report/report-cursor.ts';
import { reportStore } from '../../../../lib/messages/report/report-store.ts';
import { claimLifeMs } from '../../../../lib/messages/send/deadlines.ts';
import { beginListed } from '../../../support/begun-dispatches.ts';
import { lagReads } from '../../../support/lagging-reads.ts';
import { makeDispatch, makeDispatchHead } from '../../../support/made-dispatches.ts';
import { noCosts } from '../../../support/no-costs.ts';
import {
  loadReceipts,
  noCost,
  platformIdOf,
  putItems,
  recipientOf,
  shippedKnownRates,
} from '../../../support/reported-dispatches.ts';
import { claimOf, loadSlices } from '../../../support/reported-slices.ts';
import { meterRequests } from '../../../support/request-meter.ts';
import { freshTable, localDocumentClient, patientDocumentClient } from '../../../support/stores.ts';
import { thorough } from '../../../support/thorough.ts';

const acceptedAtMs = Date.UTC(2026, 10, 22, 10);
const nowMs = acceptedAtMs + 600_000;
const plain = patientDocumentClient();
const table = { documentClient: plain, tableName: await freshTable('messages') };

function headOf(name: string, changes: Partial<DispatchHead> = {}): DispatchHead {
  return makeDispatchHead({ dispatchId: name.toUpperCase().padStart(26, '0'), acceptedAtMs, total: 3, ...changes });
}

type Asked = { readonly limit?: number; readonly filter?: string[]; readonly after?: string };

/** Reads the report as its page does; the meter counts the reads. */
function reportsOver(client = patientDocumentClient(), atMs = nowMs) {
  const meter = meterRequests(client);
  const report = reportStore(tableOf(client, table.tableName, { nowMs: () => atMs }));
  const states = dispatchItemStore(tableOf(client, table.tableName, { pause: async () => undefined }));
  const page = async ({ dispatchId }: DispatchHead, { limit = 1_000, filter, after }: Asked = {}) => {
    const question = { dispatchId, states: statesOf(filter), limit };
    const from = after === undefined ? undefined : reportPlaceOf(question, after);
    const open = await openReport(report, question, from);
    if (open === undefined) return undefined;
    if (from !== undefined) expect(isPlaceIn(open.dispatch, question, from)).toBe(true);
    const read = await readPage(report, question, open, { nowMs: atMs, rates: await shippedKnownRates() });
    return { answer: reportAnswer(open.dispatch, question, read), cost: meter.taken() };
  };
  const cancel = async ({ dispatchId }: DispatchHead) => {
    const dispatch = await describedDispatch(report, dispatchId);
    if (dispatch === undefined) throw new Error('there is no such dispatch');
    const ports = {
      report,
      states,
      countNow: noCosts.countNow,
      wakeNumber: async () => undefined,
      rates: shippedKnownRates,
      nowMs: () => atMs,
      log: () => undefined,
    };
    const { counts } = await cancelDispatch(ports, dispatch);
    return { counts, cost: meter.taken() };
  };
  return {
    page,
    cancel,
    progress: (dispatchId: string) => countsOf(report, dispatchId),
  };
}

async function accept(head: DispatchHead, repeats: [number, number][] = []): Promise<void> {
  const recipients = Array.from({ length: head.total }, (_, index) => ({ to: recipientOf(index) }));
  await kept.store({ ...makeDispatch(recipients), head, repeats }, signal);
  await beginListed(kept, { head, repeats });
}

const { signal } = new AbortController();
const kept = acceptedDispatchesStore(tableOf(plain, table.tableName, { nowMs: () => nowMs }));
const held = dispatchItemStore(tableOf(plain, table.tableName));
const slices = sliceStore(tableOf(plain, table.tableName, { nowMs: () => nowMs }));
const reports = reportsOver();
const none = { pending: 0, held: 0, sent: 0, delivered: 0, read: 0, failed: 0, expired: 0, unknown: 0 };
const stop = { state: 'failed', code: 'cancelled', atMs: nowMs } as const;
const sent = { state: 'sent', platformMessageId: 'w' } as const;
const again = { state: 'again', dueMs: nowMs + 5_000 } as const;

/** Claims a try of a slice, and ends it if outcomes are given. */
async function tried(
  head: DispatchHead,
  number: number,
  outcomes?: readonly Outcome[],
  claim: { try?: number; atMs?: number } = {},
) {
  const { slice } = await slices.claim(claimOf(head, number, { atMs: nowMs, ...claim }));
  return outcomes === undefined ? slice : await slices.end(slice, new Map(outcomes.entries()));
}

const rowsOf = async (head: DispatchHead, question?: Parameters<typeof reports.page>[1]) =>
  (await reports.page(head, question))?.answer.data.map(({ state }) => state);

// These tests have a meter of their own: requests of a timed-out test go on.
describe.runIf(thorough)('what a report of 10,000 costs (D40)', () => {
  const head = headOf('bulk', { total: 10_000 });
  beforeAll(async () => {
    await accept(head);
    await loadSlices(table, head);
  }, 120_000);

  test('the first page: two round trips and 100 read units; with all receipts 250, and 300 if it was stopped a moment ago', async () => {
    const own = reportsOver();
    const before = await own.page(head);
    expect(before?.answer).toMatchObject({ total: 10_000, complete: true, counts: { sent: 10_000 } });
    expect(before?.answer.data[7]).toMatchObject({
      ...{ index: 7, to: recipientOf(7), state: 'sent', platform_message_id: platformIdOf(head.dispatchId, 7) },
    });
    expect(before?.cost.roundTrips).toBe(2);
    expect(before?.cost.readUnits).toBeLessThanOrEqual(100);
    // A run of receipts appends a few hundred in a slow hour.
    await loadReceipts(table, head, 300);
    const after = await own.page(head);
    expect(after?.answer).toMatchObject({ complete: true, counts: { read: 10_000 } });
    expect(after?.cost.roundTrips).toBe(2);
    expect(after?.cost.readUnits).toBeLessThanOrEqual(250);
    await held.stop(head, stop);
    const stopped = await own.page(head);
    expect(stopped?.answer.counts).toEqual(after?.answer.counts);
    expect(stopped?.cost.roundTrips).toBe(2);
    expect(stopped?.cost.readUnits).toBeLessThanOrEqual(300);
  }, 120_000);

  test('later pages: one round trip, the counts of the first, and everybody once', async () => {
    // By then every claim from before the stop is over.
    const own = reportsOver(patientDocumentClient(), nowMs + claimLifeMs);
    const rows: number[] = [];
    for (let after: string | undefined; ; ) {
      const page = await own.page(head, { after });
      rows.push(...(page?.answer.data.map(({ index }) => index) ?? []));
      expect(page?.answer.counts.read).toBe(10_000);
      if (after !== undefined) expect(page?.cost.roundTrips).toBe(1);
      if (after !== undefined) expect(page?.cost.readUnits).toBeLessThanOrEqual(50);
      after = page?.answer.paging.cursors.after;
      if (after === undefined) break;
    }
    expect(rows).toEqual(Array.from({ length: 10_000 }, (_, index) => index));
  }, 120_000);
});

describe('a report (D40)', () => {
  test('has what stands of each recipient, and counts everybody once', async () => {
    const head = headOf('mixed', { total: 14 });
    await accept(head, [[12, 3]]);
    const refused = { state: 'failed', code: '131026', reason: 'no such person' } as const;
    await tried(head, 0, [sent, refused, { ...sent, held: 'paused' }, again, ...Array(6).fill(sent)], {
      atMs: nowMs - 9_000,
    });
    await tried(head, 1);
    const page = await reports.page(head);
    expect(page?.answer).toMatchObject({
      total: 15,
      counts: { ...none, sent: 7, failed: 1, held: 1, pending: 6 },
      complete: false,
    });
    const at = new Date(nowMs - 9_000).toISOString();
    const row = (index: number) => ({ index, to: recipientOf(index) });
    expect(page?.answer.data.slice(0, 4)).toEqual([
      { ...row(0), state: 'sent', platform_message_id: 'w', updated_at: at },
      { ...row(1), ...refused, updated_at: at },
      { ...row(2), state: 'held', code: 'paused', platform_message_id: 'w', updated_at: at },
      { ...row(3), state: 'pending' },
    ]);
    expect(page?.answer.data[12]).toEqual({ index: 12, to: recipientOf(3), state: 'pending', duplicate_of: 3 });
    expect((await reports.page(head, { filter: ['held', 'failed'] }))?.answer.data.map(({ index }) => index)).toEqual([
      1, 2,
    ]);
  });

  test('of a dispatch that went straight has the addresses of its item', async () => {
    const head = headOf('straight');
    const to = packedAddresses(['549', '550', '551']);
    const Item = { ...dispatchKey(head.dispatchId), head: JSON.stringify(head), to, expiresAtSeconds: 1_900_000_000 };
    await putItems(table, [Item]);
    const rows = ['549', '550', '551'].map((address, index) => ({ index, to: address, state: 'pending' }));
    expect((await reports.page(head))?.answer.data).toEqual(rows);
  });

  test('of a dispatch is there where reads are as late as they may be', async () => {
    const head = headOf('accepted');
    await accept(head);
    const client = localDocumentClient();
    lagReads(client);
    expect((await reportsOver(client).page(head))?.answer.counts).toEqual({ ...none, pending: 3 });
  });

  test('of a dispatch that was taken back is none, also where its word is not read yet (D25)', async () => {
    const taken = headOf('taken');
    await accept(taken);
    const slice = withdrawn({ key: { dispatchId: taken.dispatchId, slice: 0 }, size: 3, atMs: nowMs });
    await putItems(table, [{ ...sliceKeyOf(slice.key), ...sliceItemOf(slice), expiresAtSeconds: 1_900_000_000 }]);
    await expect(reports.page(taken)).rejects.toMatchObject({ code: 'dispatch_not_found' });
    await expect(reports.cancel(taken)).rejects.toMatchObject({ code: 'dispatch_not_found' });
    expect(await reports.progress(taken.dispatchId)).toBeUndefined();
    const before = headOf('before');
    const word = { ...dispatchKey(before.dispatchId), withdrawnAtMs: nowMs, expiresAtSeconds: 1_900_000_000 };
    await kept.store({ ...makeDispatch([]), head: before }, signal);
    await putItems(table, [word]);
    expect(await reports.page(before)).toBeUndefined();
  });

  test('of a dispatch that was never accepted, or not begun, is none; once it has begun everybody is pending (D40)', async () => {
    expect(await reports.page(headOf('never'))).toBeUndefined();
    const head = headOf('stored');
    await kept.store({ ...makeDispatch([{ to: '549' }]), head: { ...head, total: 1 } }, signal);
    expect(await reports.page(head)).toBeUndefined();
    await kept.begin({ ...head, total: 1 });
    expect((await reports.page(head))?.answer.data).toEqual([{ index: 0, to: '549', state: 'pending' }]);
  });

  test('of what is no dispatch is none on a later page too, and what cannot be the id of one is not read', async () => {
    const client = patientDocumentClient();
    const meter = meterRequests(client);
    const report = reportStore(tableOf(client, table.tableName, { nowMs: () => nowMs }));
    const from = { position: 1, index: 1, total: 3, counts: none, cost: noCost, repeatedPartitions: [] };
    const asked = (dispatchId: string) => ({ dispatchId, states: undefined, limit: 1 });
    expect(await openReport(report, asked('no id'), undefined)).toBeUndefined();
    expect(await openReport(report, asked('no id'), from)).toBeUndefined();
    expect(meter.taken().requests).toBe(0);
    const { dispatchId } = headOf('never');
    expect(await openReport(report, asked(dispatchId), from)).toBeUndefined();
    expect(await countsOf(report, dispatchId)).toBeUndefined();
  });

  test('of a client may be late, and is not for an operator', async () => {
    const head = headOf('operated');
    await accept(head);
    await tried(head, 0, [sent, sent, sent]);
    await loadReceipts(table, head, 100);
    const read = async (options: { consistent?: boolean }) => {
      const client = localDocumentClient();
      lagReads(client);
      const store = reportStore(tableOf(client, table.tableName, { nowMs: () => nowMs }), options);
      const { slices: found, proofs } = await store.readMessages(head.dispatchId, [0]);
      return [found.size, proofs.size];
    };
    expect([await read({}), await read({ consistent: true })]).toEqual([
      [0, 0],
      [1, 3],
    ]);
  });

  test('is gone after 30 days, whatever is left of it', async () => {
    const head = headOf('aged');
    await accept(head);
    const lastMs = acceptedAtMs + 30 * 86_400_000;
    expect(await reportsOver(patientDocumentClient(), lastMs).page(head)).toBeUndefined();
    expect(await reportsOver(patientDocumentClient(), lastMs - 1).page(head)).toBeDefined();
  });
});

describe('a dispatch that is cancelled (D53)', () => {
  test('what a worker has claimed goes its way, all else has failed, and the counts that were told stay', async () => {
    const head = headOf('flying', { total: 50 });
    await accept(head);
    const flying = (await tried(head, 0)) as Slice;
    await tried(head, 1, [sent, again, ...Array(8).fill(sent)]);
    const first = await reports.cancel(head);
    expect(first.counts).toEqual({ ...none, pending: 10, sent: 9, failed: 31 });
    // The try comes before the rest of the queue is ended.
    await tried(head, 1, undefined, { try: 1 });
    await tried(head, 2);
    const dead = (await tried(head, 3)) as Slice;
    expect(await slices.endForTheDead(dead, 'finder', { state: 'failed', code: 'cancelled' })).toBeDefined();
    for (const laterMs of [0, claimLifeMs - 1]) {
      const later = reportsOver(patientDocumentClient(), nowMs + laterMs);
      expect((await later.cancel(head)).counts).toEqual(first.counts);
      expect((await later.page(head))?.answer).toMatchObject({ counts: first.counts, complete: false });
    }
    await slices.end(flying, new Map(Array.from({ length: 10 }, (_, place) => [place, place === 0 ? again : sent])));
    const told = { ...none, sent: 18, failed: 32 };
    expect(await reports.progress(head.dispatchId)).toMatchObject({ counts: told });
    for (const laterMs of [0, 10 * claimLifeMs]) {
      const page = await reportsOver(patientDocumentClient(), nowMs + laterMs).page(head);
      expect(page?.answer).toMatchObject({ counts: told, complete: true });
      expect(page?.answer.data[25]).toMatchObject({ state: 'failed', code: 'cancelled' });
    }
  });

  test('by another word first: that is how it ends, once it is known of which tries that is certain', async () => {
    const head = headOf('disabled');
    await accept(head);
    await held.stop(head, { state: 'failed', code: '132016', atMs: nowMs });
    expect(await rowsOf(head)).toEqual(['pending', 'pending', 'pending']);
    expect(await reports.progress(head.dispatchId)).toMatchObject({ counts: { ...none, failed: 3 } });
    expect((await reports.page(head))?.answer.data[0]).toMatchObject({ state: 'failed', code: '132016' });
    expect((await reports.cancel(head)).counts).toEqual({ ...none, failed: 3 });
  });

  test('a moment ago: what was sent before is not called failed, where reads are as late as they may be', async () => {
    const head = headOf('lag', { total: 24 });
    await accept(head);
    const question = { limit: 2 };
    const client = localDocumentClient();
    lagReads(client);
    const late = reportsOver(client);
    const first = await reports.page(head, question);
    await tried(head, 0, Array(10).fill(sent));
    await reports.cancel(head);
    const rows = (page: typeof first) => page?.answer.data.map(({ state }) => state);
    expect(rows(await late.page(head))?.slice(0, 11)).toEqual([...Array(10).fill('sent'), 'failed']);
    const after = first?.answer.paging.cursors.after ?? '';
    expect(rows(await late.page(head, { ...question, after }))).toEqual(['sent', 'sent']);
    const own = reportsOver();
    expect((await own.page(head, { ...question, after }))?.cost.roundTrips).toBe(2);
    const over = reportsOver(patientDocumentClient(), nowMs + claimLifeMs);
    expect((await over.page(head, { ...question, after }))?.cost.roundTrips).toBe(1);
  });

  test('is reckoned with and counted by what is, where reads are as late as they may be', async () => {
    const [head, whole] = [headOf('reckonedlate', { total: 20 }), headOf('countedlate', { total: 10 })];
    await accept(head);
    await accept(whole);
    await tried(head, 0);
    await tried(head, 1, Array(10).fill(sent));
    await tried(whole, 0, Array(10).fill(sent));
    const client = localDocumentClient();
    lagReads(client);
    const late = reportsOver(client);
    expect((await late.cancel(head)).counts).toEqual({ ...none, pending: 10, sent: 10 });
    // The next look sees the late writes of a running dispatch.
    expect((await late.progress(whole.dispatchId))?.counts).toBeUndefined();
    expect(await late.progress(whole.dispatchId)).toMatchObject({ counts: { ...none, sent: 10 } });
  });

  test('in few requests', async () => {
    const head = headOf('large', { total: 10_000 });
    await accept(head);
    const { counts, cost } = await reportsOver().cancel(head);
    expect(counts.failed).toBe(10_000);
    expect(cost.roundTrips).toBeLessThanOrEqual(6);
  });
});

test('a dispatch has counts once all of it has ended, and goes on counting what is told later', async () => {
  const head = headOf('ending', { total: 1_012 });
  await accept(head);
  await loadSlices(table, { ...head, total: 1_010 });
  await tried(head, 101, [sent, again]);
  expect((await reports.progress(head.dispatchId))?.counts).toBeUndefined();
  await tried(head, 101, [sent, sent], { try: 1 });
  expect(await reports.progress(head.dispatchId)).toMatchObject({ counts: { ...none, sent: 1_012 } });
  await loadReceipts(table, head, 1_000);
  expect(await reports.progress(head.dispatchId)).toMatchObject({ counts: { ...none, read: 1_012 } });
});
