import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import { budgetsStore } from '../../../../lib/messages/budget/budgets-store.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import { dispatchItemStore } from '../../../../lib/messages/dispatch/item-store.ts';
import type { Outcome } from '../../../../lib/messages/dispatch/slice.ts';
import { sliceStore } from '../../../../lib/messages/dispatch/slice-store.ts';
import { receiptStore } from '../../../../lib/messages/receipts/receipt-store.ts';
import { countDispatches } from '../../../../lib/messages/spend/count-dispatches.ts';
import { countMarksStore, statedCosts } from '../../../../lib/messages/spend/count-marks-store.ts';
import { clientDays, spendOf } from '../../../../lib/messages/spend/spend.ts';
import { spendStore } from '../../../../lib/messages/spend/spend-store.ts';
import { spendSumsStore } from '../../../../lib/messages/spend/spend-sums-store.ts';
import { shippedRates } from '../../../../lib/pricing/rates.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const table = await freshTable('messages');
const client = localDocumentClient();
const messages = tableOf(client, table, { pause: async () => undefined });
const nowMs = () => startMs + 60_000;
const day = new Date(startMs).toISOString().slice(0, 10);
const ledger = spendStore({ ...messages, nowMs });
const counting = { ledger, rates: async () => [shippedRates] as const, nowMs };
const sums = spendSumsStore(messages);
const marketing = 0.0618;

/** Stores a straight dispatch, by default of one recipient in Argentina. */
async function begun(dispatchId: string, changes: Partial<DispatchHead> = {}): Promise<DispatchHead> {
  const head = { ...scenarioHead, dispatchId, total: 1, receiptsExpected: true as const, ...changes };
  const recipients = Array.from({ length: head.total }, (_, index) => ({ to: `549115555000${index + 1}` }));
  await acceptedDispatchesStore(tableOf(client, table, { nowMs: () => startMs })).beginStraight({ head, recipients });
  return head;
}

async function delivered(head: DispatchHead): Promise<void> {
  const pricing = { billable: true, type: 'regular', category: 'marketing' };
  const receipt = {
    dispatchId: head.dispatchId,
    index: 0,
    status: 'delivered',
    atMs: startMs + 5_000,
    platformMessageId: 'w',
  };
  await receiptStore(messages).append(head, [{ ...receipt, pricing }]);
}

test('a delivery is in the sums of its day once, however often it is counted, and side by side (R56)', async () => {
  const heads = await Promise.all(
    ['S1', 'S2', 'S3'].map((dispatchId) => begun(dispatchId, { clientId: 7, campaignId: 10 })),
  );
  await countDispatches(['S1', 'S2', 'S3'], counting);
  for (const head of heads) await delivered(head);
  await Promise.all([
    countDispatches(['S1', 'S2'], counting),
    countDispatches(['S2', 'S3'], counting),
    countDispatches(['S1', 'S3'], counting),
  ]);
  await countDispatches(['S1', 'S2', 'S3', 'none'], counting);
  for (const group of ['campaign', 'template', 'did', 'market'] as const) {
    const { data, total } = spendOf(await sums.between(7, day, day), group);
    expect(total).toEqual({ messages: 3, billed: 3, amount: Number((3 * marketing).toFixed(8)), currency: 'USD' });
    expect(data).toHaveLength(1);
  }
  expect(spendOf(await sums.between(7, '2000-01-01', '2000-01-31'), 'did').data).toEqual([]);
  expect((await statedCosts(messages)(['S1', 'none'])).get('S1')?.cost).toMatchObject({
    basis: 'platform',
    final: true,
  });
});

test('what a worker alone knows to have failed stays in the record of its day when receipts are counted (D58)', async () => {
  const clientId = 9;
  const head = await begun('F', { clientId, total: 2, campaignId: 10 });
  const slices = sliceStore(tableOf(client, table, { nowMs }));
  const claim = { key: { dispatchId: 'F', slice: 0 }, try: 0, size: 2, owner: 'w', atMs: startMs };
  const first = new Map<number, Outcome>([
    [0, { state: 'sent', platformMessageId: 'w' }],
    [1, { state: 'again', dueMs: startMs }],
  ]);
  await slices.end((await slices.claim(claim)).slice, first, 2);
  const failed = new Map<number, Outcome>([[1, { state: 'failed', code: 'platform_131026' }]]);
  await slices.end((await slices.claim({ ...claim, try: 1 })).slice, failed, 1);
  const recorded = async () => clientDays(await sums.between(clientId, day, day)).get(day);
  expect(await recorded()).toBeUndefined();
  await countDispatches(['F'], { ...counting, readsSlices: true });
  expect(await recorded()).toMatchObject({ sent: 1, failed: 1, held: 0, calls: 3, messages: 0, units: 0 });
  await delivered(head);
  await Promise.all([countDispatches(['F'], counting), countDispatches(['F'], counting)]);
  expect(await recorded()).toEqual({
    ...{ sent: 1, failed: 1, held: 0, calls: 3, messages: 1, billed: 1 },
    units: marketing * 100_000_000,
  });
});

test('calls that a count has found stay, whatever a later one reads; of what the platform took it is one at least (D58)', async () => {
  const clientId = 11;
  const slices = sliceStore(tableOf(client, table, { nowMs }));
  const heads = [await begun('C1', { clientId }), await begun('C2', { clientId })];
  const { slice } = await slices.claim({
    key: { dispatchId: 'C1', slice: 0 },
    try: 0,
    size: 1,
    owner: 'w',
    atMs: startMs,
  });
  await slices.end(slice, new Map<number, Outcome>([[0, { state: 'sent', platformMessageId: 'w' }]]), 4);
  const calls = async () => clientDays(await sums.between(clientId, day, day)).get(day)?.calls;
  await countDispatches(['C1'], { ...counting, readsSlices: true });
  expect(await calls()).toBe(4);
  for (const head of heads) await delivered(head);
  await Promise.all([countDispatches(['C1', 'C2'], counting), countDispatches(['C2', 'C1'], counting)]);
  expect(await calls()).toBe(5);
});

test('a count is marked, and the last mark counts', async () => {
  const marks = countMarksStore(tableOf(client, table));
  expect(await marks.dueMs('M')).toBeUndefined();
  await marks.mark({ dispatchId: 'M', acceptedAtMs: startMs }, 7);
  await marks.mark({ dispatchId: 'M', acceptedAtMs: startMs }, 9);
  expect(await marks.dueMs('M')).toBe(9);
});

test('reservations side by side never pass a limit together; each counts once, and what it comes to takes its place (R57)', async () => {
  const budgets = budgetsStore(messages);
  const [clientId, atMs, units, limitUnits] = [8, startMs, 6_180_000, 20_000_000];
  const reserve = (dispatchId: string) => budgets.reserve({ clientId, dispatchId, atMs, units, limitUnits });
  const answers = await Promise.all(['B1', 'B2', 'B3', 'B4', 'B5'].map(reserve));
  expect(answers.filter(({ kind }) => kind === 'reserved')).toHaveLength(3);
  expect(await budgets.committedUnits(clientId, atMs)).toBe(3 * units);
  const ours = ['B1', 'B2', 'B3', 'B4', 'B5'].filter((_, at) => answers[at]?.kind === 'reserved');
  const [one = '', other = ''] = ours;
  expect(await reserve(one)).toEqual({ kind: 'reserved', afterUnits: 3 * units });
  const release = () => budgets.release({ clientId, dispatchId: other });
  await Promise.all([release(), release()]);
  await release();
  expect(await budgets.committedUnits(clientId, atMs)).toBe(2 * units);
  expect(await budgets.reserve({ clientId, dispatchId: 'B9', atMs, units: limitUnits + 1, limitUnits })).toMatchObject({
    kind: 'over',
  });

  // While the message may still cost something, its reservation stays.
  const head = await begun(one, { clientId });
  await countDispatches([one], counting);
  expect(await budgets.committedUnits(clientId, atMs)).toBe(2 * units);

  // The message was delivered as utility, which costs less than the reservation.
  const pricing = { billable: true, type: 'regular', category: 'utility' };
  const receipt = {
    dispatchId: one,
    index: 0,
    status: 'delivered',
    atMs: startMs + 5_000,
    platformMessageId: 'w',
    pricing,
  };
  await receiptStore(messages).append(head, [receipt]);
  await countDispatches([one], counting);
  await countDispatches([one], counting);
  expect(await budgets.committedUnits(clientId, atMs)).toBe(units + 2_600_000);
});

/** Each of two runs has read before one of them writes. */
function readingTogether(): typeof client {
  const both = Promise.withResolvers<void>();
  let reads = 0;
  const send = async (command: Parameters<typeof client.send>[0]) => {
    const reply = await client.send(command);
    if (!(command instanceof GetCommand)) return reply;
    reads += 1;
    if (reads === 2) both.resolve();
    if (reads <= 2) await both.promise;
    return reply;
  };
  return { send } as unknown as typeof client;
}

test('releases that have read the same reservation give it back once (D58)', async () => {
  const clientId = 12;
  const budgets = budgetsStore(messages);
  for (const dispatchId of ['G1', 'G2']) await budgets.reserve({ clientId, dispatchId, atMs: startMs, units: 100 });
  const racing = budgetsStore({ ...messages, client: readingTogether() });
  await Promise.all([1, 2].map(() => racing.release({ clientId, dispatchId: 'G1' })));
  expect(await budgets.committedUnits(clientId, startMs)).toBe(100);
});

describe('a release raises what its dispatch has reserved (D56)', () => {
  const [clientId, dispatchId] = [13, 'J'];
  const budgets = budgetsStore(messages);
  const raise = (units: number, limitUnits?: number, by = budgets) =>
    by.raise({ clientId, dispatchId, units, category: 'MARKETING', limitUnits });
  const committed = async () => await budgets.committedUnits(clientId, startMs);

  test('within the limit, once however often and by how many runs, and never lowers it', async () => {
    expect(await raise(100)).toEqual({ kind: 'raised' });
    expect(await committed()).toBe(0);
    await budgets.reserve({ clientId, dispatchId, atMs: startMs, units: 100 });
    expect(await raise(201, 200)).toEqual({ kind: 'over', committedUnits: 100 });
    const racing = budgetsStore({ ...messages, client: readingTogether() });
    await Promise.all([raise(200, undefined, racing), raise(200, undefined, racing)]);
    for (const units of [200, 150]) expect(await raise(units, 200)).toEqual({ kind: 'raised' });
    expect(await committed()).toBe(200);
  });

  test('what is open then costs what it costs in the category of today, and the count gives back the rest', async () => {
    const head = await begun(dispatchId, { clientId, total: 2, category: 'UTILITY' });
    await raise(20_000_000);
    await countDispatches([dispatchId], { ...counting, readsSlices: true });
    expect(await committed()).toBe(2 * 6_180_000);
    await delivered(head);
    await countDispatches([dispatchId], { ...counting, readsSlices: true });
    expect(await committed()).toBe(2 * 6_180_000);
  });

  test('nothing of a stopped dispatch, which a cancellation counts', async () => {
    await dispatchItemStore(tableOf(client, table)).stop(
      { dispatchId, phoneNumberId: '', acceptedAtMs: startMs },
      cancelled(startMs),
    );
    const before = await committed();
    expect(await raise(90_000_000)).toEqual({ kind: 'raised' });
    expect(await committed()).toBe(before);
  });
});
