import { beforeAll, describe, expect, test } from 'vitest';
import { messagesCancel } from '../../functions/messages-cancel.ts';
import { messagesReport } from '../../functions/messages-report.ts';
import { clientKey, didKey } from '../../lib/access/directory-items.ts';
import { directoryStore } from '../../lib/access/directory-store.ts';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import type { DispatchHead } from '../../lib/messages/dispatch/head.ts';
import { dispatchItemStore } from '../../lib/messages/dispatch/item-store.ts';
import type { Outcome, Slice } from '../../lib/messages/dispatch/slice.ts';
import { sliceStore } from '../../lib/messages/dispatch/slice-store.ts';
import { cancelDispatch, cancelOpenDispatch } from '../../lib/messages/report/cancel.ts';
import { reportStore } from '../../lib/messages/report/report-store.ts';
import { announcedStop } from '../../lib/messages/sender/stop-news.ts';
import { beginListed } from '../support/begun-dispatches.ts';
import { type CallOptions, call, type TestCaller } from '../support/calls.ts';
import { makeChannel, makeWaba } from '../support/directory.ts';
import { makeDispatch, makeDispatchHead } from '../support/made-dispatches.ts';
import { MemoryAudit } from '../support/memory-audit.ts';
import { noCosts } from '../support/no-costs.ts';
import { loadDispatch, putItems, recipientOf, shippedKnownRates } from '../support/reported-dispatches.ts';
import { claimOf, loadSlices } from '../support/reported-slices.ts';
import { freshTable, localDocumentClient } from '../support/stores.ts';

const acceptedAtMs = Date.UTC(2026, 10, 22, 10);
const nowMs = acceptedAtMs + 600_000;
const did = '5491100000001';
const agent: TestCaller = { userId: 'u', clientId: 1001 };
const plain = localDocumentClient();
const table = { documentClient: plain, tableName: await freshTable('messages') };
const directoryTable = { documentClient: plain, tableName: await freshTable('directory') };

await putItems(directoryTable, [
  ...[1001, 1002].map((clientId) => ({ ...clientKey(clientId) })),
  ...[makeChannel({ did }), makeChannel({ did: '5491100000002', channelId: 502 })].map((channel) => ({
    ...didKey(channel.did),
    channel,
    waba: makeWaba(),
  })),
]);

function headOf(name: string, changes: Partial<DispatchHead> = {}): DispatchHead {
  const dispatchId = name.toUpperCase().padStart(26, '0');
  return makeDispatchHead({ dispatchId, clientId: 1001, did, acceptedAtMs, total: 3, ...changes });
}

/** The numbers of these dispatches were woken, with the stop that was stored by then. */
const woken: string[] = [];
let isQueueAway = false;

function pagesAt(atMs: number) {
  const clock = () => atMs;
  const directory = directoryStore(plain, directoryTable.tableName);
  const report = reportStore(tableOf(plain, table.tableName, { nowMs: clock }));
  const logged: string[] = [];
  const log = (event: string) => void logged.push(event);
  const audit = new MemoryAudit();
  const cancel = messagesCancel({
    directory,
    report,
    rates: shippedKnownRates,
    states,
    countNow: noCosts.countNow,
    wakeNumber: async (head) => {
      const stored = await states.of([head.dispatchId]);
      woken.push(`${head.dispatchId} ${stored.get(head.dispatchId)?.stop?.code}`);
      if (isQueueAway) throw new Error('no queue');
    },
    nowMs: clock,
    log,
    audit,
  });
  const read = messagesReport({ directory, report, rates: shippedKnownRates, nowMs: clock });
  // biome-ignore lint/suspicious/noExplicitAny: an answer's JSON, read as its tests say.
  type Body = any;
  const ask =
    (page: typeof cancel) =>
    async ({ dispatchId }: DispatchHead, query: CallOptions['query'] = {}, caller = agent, onDid = did) => {
      const { status, body } = await call(page, caller, { path: { did: onDid, dispatchId }, query });
      return { status, body: body as Body };
    };
  return { cancel: ask(cancel), report: ask(read), logged, audit };
}

const states = dispatchItemStore(tableOf(plain, table.tableName, { pause: async () => undefined }));
const pages = pagesAt(nowMs);
const slices = sliceStore(tableOf(plain, table.tableName, { nowMs: () => nowMs }));
const sent: Outcome = { state: 'sent', platformMessageId: 'w' };
const again: Outcome = { state: 'again', dueMs: nowMs };
const none = { pending: 0, held: 0, sent: 0, delivered: 0, read: 0, failed: 0, expired: 0, unknown: 0 };

/** A worker has claimed this slice. With outcomes, the slice has also ended. */
async function tried(head: DispatchHead, number: number, outcomes?: readonly Outcome[]) {
  const { slice } = await slices.claim(claimOf(head, number, { atMs: nowMs }));
  return outcomes === undefined ? slice : await slices.end(slice, new Map(outcomes.entries()));
}

describe('a dispatch is cancelled (D53)', () => {
  test('that no sender has taken up: nothing of it is sent, and who reads its report sees why', async () => {
    const head = headOf('early');
    const recipients = [0, 1, 2].map((index) => ({ to: recipientOf(index) }));
    const dispatch = { ...makeDispatch(recipients), head, repeats: [[3, 0]] as [number, number][] };
    const dispatches = acceptedDispatchesStore(tableOf(plain, table.tableName, { nowMs: () => nowMs }));
    await dispatches.store(dispatch, AbortSignal.timeout(2_000));
    await dispatches.begin(head);
    const { status, body } = await pages.cancel(head);
    expect(status).toBe(200);
    const on = { did, dispatchId: head.dispatchId };
    expect(pages.audit.noted).toMatchObject([{ clientId: 1001, act: 'dispatch.cancelled', on, outcome: 'done' }]);
    expect(body).toEqual({
      dispatch_id: head.dispatchId,
      client_id: 1001,
      did,
      template: { name: head.templateName, language: head.templateLanguage },
      accepted_at: '2026-11-22T10:00:00.000Z',
      total: 4,
      counts: { ...none, failed: 4 },
      complete: true,
      cost: { amount: 0, currency: 'USD', basis: 'list', final: true },
    });
    const { body: report } = await pages.report(head);
    expect([report.counts, report.complete]).toEqual([{ ...none, failed: 4 }, true]);
    const row = { to: recipientOf(0), state: 'failed', code: 'cancelled', updated_at: '2026-11-22T10:10:00.000Z' };
    expect(report.data[0]).toEqual({ index: 0, ...row });
    expect(report.data[3]).toEqual({ index: 3, ...row, duplicate_of: 0 });
    expect(await beginListed(dispatches, dispatch)).toBe('begun');
    expect((await pages.report(head)).body).toEqual(report);
  });

  test('its number is woken once the stop is stored; the answer does not wait for the queue', async () => {
    const [head, beside] = [headOf('told', { total: 30 }), headOf('beside', { total: 30 })];
    for (const each of [head, beside]) await loadDispatch(table, each);
    woken.length = 0;
    await pages.cancel(head);
    expect(woken).toEqual([`${head.dispatchId} cancelled`]);
    isQueueAway = true;
    expect((await pages.cancel(beside)).status).toBe(200);
    isQueueAway = false;
    expect(pages.logged).toContain('dispatch.not_woken');
  });

  test('one whose stop cannot be announced is not stopped: the request fails, alone and of a campaign', async () => {
    const [alone, ofCampaign] = [headOf('unannounced'), headOf('campaign')];
    for (const head of [alone, ofCampaign]) await loadDispatch(table, head);
    const bring = async () => await Promise.reject(new Error('no table'));
    const failing = { ...states, stop: announcedStop(states.stop, { bring }) };
    const report = reportStore(tableOf(plain, table.tableName, { nowMs: () => nowMs }));
    const wakeNumber = async () => undefined;
    const shared = { report, states: failing, countNow: noCosts.countNow, wakeNumber, nowMs: () => nowMs };
    const ports = { ...shared, log: () => undefined };
    await expect(cancelOpenDispatch(ports, ofCampaign.dispatchId)).rejects.toThrow('no table');
    const described = { head: alone, repeats: [], recipients: new Map() } as never;
    await expect(cancelDispatch({ ...ports, rates: shippedKnownRates }, described)).rejects.toThrow('no table');
    expect((await states.of([alone.dispatchId])).get(alone.dispatchId)?.stop).toBeUndefined();
    expect(await cancelOpenDispatch({ ...ports, states }, ofCampaign.dispatchId)).toBe(true);
  });

  test('in flight: what a worker has taken up goes its way, the rest has failed', async () => {
    const head = headOf('flying', { total: 30 });
    await loadDispatch(table, head);
    const flying = (await tried(head, 0)) as Slice;
    await tried(head, 2, Array(10).fill({ state: 'expired', code: 'expired' }));
    const { body } = await pages.cancel(head);
    expect([body.counts, body.complete]).toEqual([{ ...none, pending: 10, expired: 10, failed: 10 }, false]);
    const pending = (await pages.report(head, { state: 'pending' })).body.data;
    expect(pending).toEqual(flying.outcomes.map((_, index) => ({ index, to: recipientOf(index), state: 'pending' })));
    await slices.end(flying, new Map(Array.from({ length: 10 }, (_, place) => [place, sent])));
    const { body: report } = await pages.report(head);
    expect([report.counts, report.complete]).toEqual([{ ...none, sent: 10, expired: 10, failed: 10 }, true]);
  });

  test('repeated: nothing is cancelled again, and the answer is that of the moment', async () => {
    const head = headOf('again');
    await loadDispatch(table, head);
    const { cancel, report, logged } = pagesAt(nowMs);
    const first = await cancel(head);
    const later = pagesAt(nowMs + 5_000);
    expect((await later.cancel(head)).body).toEqual(first.body);
    expect((await report(head)).body.data[0].updated_at).toBe('2026-11-22T10:10:00.000Z');
    expect([logged, later.logged]).toEqual([['dispatch.cancelled'], []]);
  });

  test('of which nothing is left: 200, and nothing changes', async () => {
    const head = headOf('complete', { total: 20 });
    await loadDispatch(table, head);
    await loadSlices(table, head);
    expect((await pages.cancel(head)).body).toMatchObject({ counts: { ...none, sent: 20 }, complete: true });
    expect((await pages.report(head)).body.counts).toEqual({ ...none, sent: 20 });
  });
});

// Operators and all other clients are in contract/tenancy/dispatches.ts.
describe('who may cancel', () => {
  const head = headOf('mine');
  beforeAll(() => loadDispatch(table, head));

  test.each([
    ['another client on the same DID', head, { userId: 'v', clientId: 1002 }, did],
    ['on another DID', head, agent, '5491100000002'],
    ['a dispatch that never was', headOf('never'), agent, did],
    ['an id that is none', { ...head, dispatchId: 'DISPATCH#1' }, agent, did],
  ] as const)('%s: 404, and nothing is stopped', async (_, dispatch, caller, onDid) => {
    const { status, body } = await pages.cancel(dispatch, {}, caller, onDid);
    expect([status, body]).toEqual([404, { message: 'dispatch not found', code: 'dispatch_not_found' }]);
    expect((await pages.report(head)).body.counts.pending).toBe(3);
  });
});

test('recipients of a parked dispatch wait, and say for what (D46)', async () => {
  const head = headOf('parked');
  await loadDispatch(table, head);
  await tried(head, 0, [again, { state: 'expired', code: 'expired' }, again]);
  const parked = { code: 'template_paused', scope: 'template', sinceMs: nowMs } as const;
  await states.park(head.dispatchId, parked);
  await states.parkTold(head.dispatchId, parked);
  const waiting = (index: number) => ({ index, to: recipientOf(index), state: 'pending', code: 'template_paused' });
  const { body } = await pages.report(head);
  expect([body.data[0], body.data[2], body.counts, body.complete]).toEqual([
    waiting(0),
    waiting(2),
    { ...none, pending: 2, expired: 1 },
    false,
  ]);
  await states.resume(head.dispatchId, parked);
  await states.unpark(head.dispatchId, parked);
  expect((await pages.report(head)).body.data[0]).toEqual({ index: 0, to: recipientOf(0), state: 'pending' });
});
