import { beforeAll, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import { dispatchItemStore } from '../../../../lib/messages/dispatch/item-store.ts';
import type { Outcome } from '../../../../lib/messages/dispatch/slice.ts';
import { sliceStore } from '../../../../lib/messages/dispatch/slice-store.ts';
import { outcomesStore } from '../../../../lib/messages/report/outcomes-store.ts';
import { senderDispatchesStore } from '../../../../lib/messages/sender/dispatches-store.ts';
import { injectFaults } from '../../../support/faults.ts';
import { lagReads } from '../../../support/lagging-reads.ts';
import { makeDispatch, makeRecipients } from '../../../support/made-dispatches.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

/** What a sender reads of a dispatch, and the few writes of it that are not a slice's (D25, D40, D53). */

const nowMs = 1_800_000_000_000;
let table: string;
beforeAll(async () => {
  table = await freshTable('messages');
});

/** Its reads come late where they are not strong. */
function open() {
  const client = localDocumentClient();
  lagReads(client);
  const { attempts } = injectFaults(client, () => undefined);
  const access = tableOf(client, table, { nowMs: () => nowMs });
  return { attempts, dispatches: senderDispatchesStore(access, acceptedDispatchesStore(access)) };
}

const plainTable = () => tableOf(localDocumentClient(), table, { nowMs: () => nowMs });

async function stored(dispatchId: string, recipients = 25) {
  const dispatch = makeDispatch(makeRecipients(recipients), { dispatchId, acceptedAtMs: nowMs });
  await acceptedDispatchesStore(plainTable()).store(dispatch, AbortSignal.timeout(5_000));
  return dispatch;
}
const begin = async (dispatchId: string) => {
  const dispatch = await stored(dispatchId);
  await acceptedDispatchesStore(plainTable()).begin(dispatch.head);
  return dispatch;
};

test('a dispatch is found as it stands, with its record, in one strong request', async () => {
  const { head, plan } = await stored('J1');
  const { dispatches, attempts } = open();
  expect(await dispatches.find('none')).toEqual({ standing: 'open', state: {}, dispatch: undefined });
  expect(await dispatches.find('J1')).toMatchObject({ standing: 'open', state: {}, dispatch: { head, plan } });
  await acceptedDispatchesStore(plainTable()).begin(head);
  const stop = cancelled(nowMs);
  await dispatchItemStore(plainTable()).stop(head, stop);
  expect(await dispatches.find('J1')).toMatchObject({ standing: 'begun', state: { begun: true, stop } });
  expect(attempts.map(({ command }) => command)).toEqual(Array.from({ length: 3 }, () => 'BatchGetItemCommand'));
});

test('a dispatch that was withdrawn is over, and one that has begun is not withdrawn', async () => {
  await stored('J2');
  const { dispatches } = open();
  expect(await dispatches.withdraw('J2')).toBe('withdrawn');
  expect(await dispatches.withdraw('J2')).toBe('withdrawn');
  expect((await dispatches.find('J2')).standing).toBe('withdrawn');
  await begin('J3');
  expect(await dispatches.withdraw('J3')).toBe('begun');
});

test('its slices are read strongly from the floor on, over all partitions, each in its place', async () => {
  const slices = sliceStore(plainTable());
  const outcomes = new Map<number, Outcome>([[0, { state: 'sent', platformMessageId: 'p' }]]);
  for (const slice of [0, 3, 98, 99, 100, 101, 250, 999]) {
    const claim = { key: { dispatchId: 'J4', slice }, try: 0, owner: 'a', atMs: nowMs, size: 1 };
    const claimed = await slices.claim(claim);
    if (slice === 99) await slices.end(claimed.slice, outcomes);
  }
  // The partitions of another dispatch.
  await slices.claim({ key: { dispatchId: 'J40', slice: 100 }, try: 0, owner: 'a', atMs: nowMs, size: 1 });
  const { dispatches, attempts } = open();
  const numbersOf = async (from: number, until: number) =>
    (await dispatches.slicesFrom('J4', from, until)).map(({ key }) => key.slice);
  expect(await numbersOf(0, 1_000)).toEqual([0, 3, 98, 99, 100, 101, 250, 999]);
  expect(attempts.length).toBe(10);
  expect(await numbersOf(99, 251)).toEqual([99, 100, 101, 250]);
  expect(await numbersOf(100, 250)).toEqual([100, 101]);
  expect(await numbersOf(3, 3)).toEqual([]);
  expect(attempts.length).toBe(10 + 3 + 2);
  const [ended] = await dispatches.slicesFrom('J4', 99, 100);
  expect(ended).toMatchObject({ key: { dispatchId: 'J4', slice: 99 }, state: 'ended', outcomes: [{ state: 'sent' }] });
});

test('recipients are read from any of them on, and none is an error', async () => {
  const { recipients } = await begin('J5');
  const { dispatches } = open();
  expect(await dispatches.recipientsFrom('J5', 7)).toEqual(recipients.slice(7));
  await expect(dispatches.recipientsFrom('none', 0)).rejects.toThrow();
});

test('the tries under way of a stopped dispatch are reckoned once', async () => {
  const { head } = await begin('J6');
  const { dispatches } = open();
  await dispatchItemStore(plainTable()).stop(head, cancelled(nowMs));
  expect(await dispatches.reckon('J6', { 1: 0 })).toEqual({ 1: 0 });
  expect(await dispatches.reckon('J6', {})).toEqual({ 1: 0 });
  expect((await dispatches.find('J6')).state.underWay).toEqual({ 1: 0 });
});

test('what acceptance could not list is listed, once, however often it is repeated', async () => {
  const { dispatches } = open();
  await begin('J7');
  const { dispatch } = await dispatches.find('J7');
  if (dispatch === undefined) throw new Error('the dispatch is not stored');
  await dispatches.list(dispatch);
  await dispatches.list(dispatch);
  const from = { did: dispatch.head.did, clientIds: [dispatch.head.clientId] };
  const listed = await outcomesStore(plainTable()).listAll(from, { fromMs: nowMs, toMs: nowMs + 1 });
  expect(listed.map(({ head }) => head.dispatchId)).toEqual(['J7']);
});
