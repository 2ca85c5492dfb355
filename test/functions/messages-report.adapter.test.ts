import { beforeAll, describe, expect, test } from 'vitest';
import { dispatchesList } from '../../functions/dispatches-list.ts';
import { messagesReport } from '../../functions/messages-report.ts';
import { clientKey, didKey } from '../../lib/access/directory-items.ts';
import { directoryStore } from '../../lib/access/directory-store.ts';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import type { DispatchHead } from '../../lib/messages/dispatch/head.ts';
import { dispatchesStore } from '../../lib/messages/report/dispatches-store.ts';
import { reportStore } from '../../lib/messages/report/report-store.ts';
import { beginListed } from '../support/begun-dispatches.ts';
import { type CallOptions, call, type TestCaller } from '../support/calls.ts';
import { makeChannel, makeWaba } from '../support/directory.ts';
import { lagReads } from '../support/lagging-reads.ts';
import { makeDispatch } from '../support/made-dispatches.ts';
import {
  loadDispatch,
  loadReceipts,
  putItems,
  recipientOf,
  shippedKnownRates,
} from '../support/reported-dispatches.ts';
import { loadSlices } from '../support/reported-slices.ts';
import { meterRequests } from '../support/request-meter.ts';
import { freshTable, localDocumentClient, patientDocumentClient } from '../support/stores.ts';

const acceptedAtMs = Date.UTC(2026, 10, 22, 10);
const clock = { nowMs: acceptedAtMs + 600_000 };
const did = '5491100000001';
const agent: TestCaller = { userId: 'u', clientId: 1001 };
const plain = patientDocumentClient();
const table = { documentClient: plain, tableName: await freshTable('messages') };
const directoryTable = { documentClient: plain, tableName: await freshTable('directory') };

// Clients and DIDs are stored as provisioning writes them, because the check of the DID is part of a page's cost.
await putItems(directoryTable, [
  ...[1001, 1002].map((clientId) => ({ ...clientKey(clientId) })),
  ...[
    makeChannel({ did }),
    makeChannel({ did: '5491100000002', channelId: 502, clientId: 1002 }),
    makeChannel({ did: '5491100000003', channelId: 503 }),
  ].map((channel) => ({ ...didKey(channel.did), channel, waba: makeWaba() })),
]);

function headOf(dispatchId: string, changes: Partial<DispatchHead> = {}): DispatchHead {
  return {
    ...{ dispatchId, clientId: 1001, did, wabaId: '200000000000001', phoneNumberId: '3', credential: 'main' },
    ...{
      throughputPerSecond: 80,
      path: 'messages',
      category: 'MARKETING',
      templateName: 'order_update',
      templateLanguage: 'en_US',
    },
    ...{ acceptedAtMs, total: 3 },
    ...changes,
  };
}

function dispatchIdOf(name: string): string {
  return name.toUpperCase().padStart(26, '0');
}

/** Builds both pages over the real table, with a meter. */
function pagesOver(client = patientDocumentClient()) {
  const meter = meterRequests(client);
  const nowMs = () => clock.nowMs;
  const directory = directoryStore(client, directoryTable.tableName);
  const report = messagesReport({
    directory,
    nowMs,
    rates: shippedKnownRates,
    report: reportStore(tableOf(client, table.tableName, { nowMs })),
  });
  const list = dispatchesList({
    directory,
    nowMs,
    dispatches: dispatchesStore(tableOf(client, table.tableName, { nowMs })),
  });
  // biome-ignore lint/suspicious/noExplicitAny: an answer's JSON, read as its tests say.
  type Body = any;
  return {
    report: async (dispatchId: string, query: CallOptions['query'] = {}, caller = agent, onDid = did) => {
      const { status, body } = await call(report, caller, { path: { did: onDid, dispatchId }, query });
      return { status, body: body as Body, cost: meter.taken() };
    },
    list: async (query: CallOptions['query'] = {}, caller = agent, onDid = did) => {
      const { status, body } = await call(list, caller, { path: { did: onDid }, query });
      return { status, body: body as Body, cost: meter.taken() };
    },
  };
}

const pages = pagesOver();
const dispatches = acceptedDispatchesStore(tableOf(plain, table.tableName, { nowMs: () => clock.nowMs }));

// Each test has a meter of its own: requests of a test that timed out may still run in the next.
describe('what a report costs, with the check of its DID (D40)', () => {
  test('when every receipt came alone: the first page three round trips, a second page of receipts; a later one two', async () => {
    const pages = pagesOver();
    const trickled = headOf(dispatchIdOf('trickled'), { total: 900 });
    await loadDispatch(table, trickled);
    await loadSlices(table, trickled);
    // A query page cannot hold the 2,700 items of this partition.
    await loadReceipts(table, trickled, 1);
    const first = await pages.report(trickled.dispatchId, { limit: '300' });
    expect(first.body).toMatchObject({ counts: { read: 900 }, complete: true });
    expect(first.cost.roundTrips).toBe(3);
    expect(first.cost.readUnits).toBeLessThanOrEqual(110);
    const later = await pages.report(trickled.dispatchId, { limit: '300', cursor: first.body.paging.cursors.after });
    expect(later.body.data).toHaveLength(300);
    expect(later.cost.roundTrips).toBe(2);
  }, 60_000);

  test('without receipts: the first page two round trips, and later ones one, filtered or not', async () => {
    const pages = pagesOver();
    const bare = headOf(dispatchIdOf('bare'), { total: 2_010 });
    await loadDispatch(table, bare);
    await loadSlices(table, bare);
    const indexes = ({ body }: Awaited<ReturnType<typeof pages.report>>) =>
      body.data.map(({ index }: { index: number }) => index);
    for (const query of [{}, { state: 'sent' }]) {
      const first = await pages.report(bare.dispatchId, { ...query, limit: '950' });
      expect(first.body).toMatchObject({ total: 2_010, counts: { sent: 2_010 }, complete: true });
      expect(first.cost.roundTrips).toBe(2);
      const cursor = first.body.paging.cursors.after;
      const later = await pages.report(bare.dispatchId, { ...query, limit: '1000', cursor });
      expect(indexes(later)).toEqual(Array.from({ length: 1_000 }, (_, at) => 950 + at));
      expect(later.cost.roundTrips).toBe(1);
    }
  });
});

describe('a report is there from the 200 on', () => {
  const accept = async (head: DispatchHead, repeats: [number, number][] = []) => {
    const recipients = Array.from({ length: head.total }, (_, index) => ({ to: `+${recipientOf(index)}` }));
    await dispatches.store({ ...makeDispatch(recipients), head, repeats }, AbortSignal.timeout(2_000));
    await dispatches.begin(head);
  };

  test('with everybody pending, numbers as they were asked for, and duplicates', async () => {
    const head = headOf(dispatchIdOf('fresh'), { campaignId: 7 });
    await accept(head, [
      [1, 0],
      [4, 2],
    ]);
    const { status, body } = await pages.report(head.dispatchId);
    expect(status).toBe(200);
    const to = (index: number) => `+${recipientOf(index)}`;
    expect(body).toEqual({
      dispatch_id: head.dispatchId,
      client_id: 1001,
      did,
      template: { name: 'order_update', language: 'en_US' },
      campaign_id: 7,
      accepted_at: '2026-11-22T10:00:00.000Z',
      total: 5,
      counts: { pending: 5, held: 0, sent: 0, delivered: 0, read: 0, failed: 0, expired: 0, unknown: 0 },
      complete: false,
      cost: { amount: 0, currency: 'USD', basis: 'list', final: false },
      data: [
        { index: 0, to: to(0), state: 'pending' },
        { index: 1, to: to(0), state: 'pending', duplicate_of: 0 },
        { index: 2, to: to(1), state: 'pending' },
        { index: 3, to: to(2), state: 'pending' },
        { index: 4, to: to(1), state: 'pending', duplicate_of: 2 },
      ],
      paging: { cursors: {} },
    });
  });

  test('also where reads are as late as they may be', async () => {
    const late = localDocumentClient();
    lagReads(late);
    const head = headOf(dispatchIdOf('late'));
    await accept(head);
    const { status, body } = await pagesOver(late).report(head.dispatchId);
    expect([status, body.data?.length]).toEqual([200, 3]);
  });

  test('and as it was once it has begun', async () => {
    const head = headOf(dispatchIdOf('begun'));
    await accept(head, [[3, 0]]);
    const { body } = await pages.report(head.dispatchId);
    expect(body).toMatchObject({ total: 4, counts: { pending: 4 } });
    await beginListed(dispatches, { head, repeats: [[3, 0]] });
    expect((await pages.report(head.dispatchId)).body).toEqual(body);
  });

  test('and is gone after 30 days, whatever is left of it', async () => {
    const head = headOf(dispatchIdOf('aged'), { acceptedAtMs: clock.nowMs - 30 * 86_400_000 });
    await accept(head);
    expect((await pages.report(head.dispatchId)).status).toBe(404);
    const younger = headOf(dispatchIdOf('young'), { acceptedAtMs: clock.nowMs - 30 * 86_400_000 + 1 });
    await accept(younger);
    expect((await pages.report(younger.dispatchId)).status).toBe(200);
  });
});

// Operators and all other clients are in contract/tenancy/dispatches.ts.
describe('a report that there is not', () => {
  const head = headOf(dispatchIdOf('mine'));
  beforeAll(() => loadDispatch(table, head));

  test.each([
    ['another client on the same DID', head.dispatchId, { userId: 'v', clientId: 1002 }, did],
    ['on another DID of the WABA', head.dispatchId, agent, '5491100000002'],
    ['a dispatch that never was', dispatchIdOf('never'), agent, did],
    ['an id that is none', 'DISPATCH#1', agent, did],
    ['an id that is too long for a key', 'A'.repeat(5_000), agent, did],
  ] as const)('%s', async (_, dispatchId, caller, onDid) => {
    const { status, body, cost } = await pages.report(dispatchId, {}, caller, onDid);
    expect([status, body]).toEqual([404, { message: 'dispatch not found', code: 'dispatch_not_found' }]);
    // An id that cannot be a key is not read.
    if (dispatchId.length !== 26) expect(cost.requests).toBe(0);
  });

  test('a dispatch that has not begun, or was taken back, is none, and the latter is not listed', async () => {
    const taken = headOf(dispatchIdOf('taken'), { did: '5491100000002' });
    const dispatch = { ...makeDispatch([]), head: taken };
    await dispatches.store(dispatch, AbortSignal.timeout(2_000));
    await dispatches.list(dispatch, AbortSignal.timeout(2_000));
    const listed = async () => (await pages.list({}, agent, '5491100000002')).body.data.length;
    expect([await listed(), (await pages.report(taken.dispatchId, {}, agent, '5491100000002')).status]).toEqual([
      1, 404,
    ]);
    expect(await dispatches.withdraw(taken.dispatchId)).toBe('withdrawn');
    expect([await listed(), (await pages.report(taken.dispatchId, {}, agent, '5491100000002')).status]).toEqual([
      0, 404,
    ]);
  });
});

// Cursors that are refused are in report-cursors.adapter.test.ts.
test.each([
  [{ state: 'sent,gone' }, 'state', 'state must be one of pending'],
  [{ limit: '1001' }, 'limit', 'limit must be a whole number from 1 to 1000'],
  [{ limit: '0' }, 'limit', 'limit must be'],
])('a report with %j is refused', async (query, path, message) => {
  const head = headOf(dispatchIdOf('refused'));
  await loadDispatch(table, head);
  const { status, body } = await pages.report(head.dispatchId, query);
  expect([status, body.errors]).toEqual([400, [{ path, message: expect.stringContaining(message) }]]);
});

describe('the list of dispatches', () => {
  const shared = '5491100000003';
  const heads = Array.from({ length: 30 }, (_, at) => {
    const clientId = at % 3 === 0 ? 1002 : 1001;
    return headOf(dispatchIdOf(`L${String(at).padStart(3, '0')}`), {
      ...{ did: shared, clientId, acceptedAtMs: acceptedAtMs + at * 1_000, total: at + 1 },
    });
  });
  const own = heads.filter(({ clientId }) => clientId === 1001).toReversed();
  const listed = (body: { data: { dispatch_id: string }[] }) => body.data.map(({ dispatch_id }) => dispatch_id);

  beforeAll(async () => {
    for (const head of heads) await loadDispatch(table, { ...head });
  });

  test('has those of the client alone, newest first, in two round trips', async () => {
    const { body, cost } = await pages.list({}, agent, shared);
    expect(listed(body)).toEqual(own.map(({ dispatchId }) => dispatchId));
    expect(body.data[0]).toEqual({
      dispatch_id: own[0]?.dispatchId,
      template: { name: 'order_update', language: 'en_US' },
      accepted_at: new Date(own[0]?.acceptedAtMs ?? 0).toISOString(),
      total: own[0]?.total,
    });
    expect(body.paging).toEqual({ cursors: {} });
    expect(cost.roundTrips).toBeLessThanOrEqual(2);
    expect(cost.requests).toBe(3);
  });

  test('comes in pages, and each in two round trips', async () => {
    const found: string[] = [];
    let query: Record<string, string> = { limit: '8' };
    for (;;) {
      const { body, cost } = await pages.list(query, agent, shared);
      found.push(...listed(body));
      expect(cost.roundTrips).toBeLessThanOrEqual(2);
      if (body.paging.cursors.after === undefined) break;
      query = { limit: '8', cursor: body.paging.cursors.after };
    }
    expect(found).toEqual(own.map(({ dispatchId }) => dispatchId));
  });

  const gone = '5491100000004';

  test('of a DID that was taken away is told as long as the client has dispatches on it', async () => {
    const sent = headOf(dispatchIdOf('gone'), { did: gone, acceptedAtMs: clock.nowMs - 30 * 86_400_000 + 2 });
    await loadDispatch(table, sent);
    expect(listed((await pages.list({}, agent, gone)).body)).toEqual([sent.dispatchId]);
    const page = await pages.list({ from: new Date(clock.nowMs).toISOString() }, agent, gone);
    expect([page.status, page.body.data, page.cost.roundTrips]).toEqual([200, [], 2]);
    const refusal = { message: 'the did is outside the WABA hierarchy of the client', code: 'did_forbidden' };
    const ofAnother = await pages.list({}, { userId: 'v', clientId: 1002 }, gone);
    expect([ofAnother.status, ofAnother.body]).toEqual([403, refusal]);
    clock.nowMs += 2;
    const forgotten = await pages.list({}, agent, gone);
    clock.nowMs -= 2;
    expect([forgotten.status, forgotten.body]).toEqual([403, refusal]);
  });

  test('of what cannot be a DID is refused, however long', async () => {
    expect((await pages.list({}, agent, '5'.repeat(5_000))).status).toBe(403);
  });

  test('ends where its next page is older than 30 days by now', async () => {
    const { body } = await pages.list({ limit: '8' }, agent, shared);
    const cursor = body.paging.cursors.after;
    const before = clock.nowMs;
    // The first page ended with this dispatch, which has left the list since.
    clock.nowMs = (own[7]?.acceptedAtMs ?? 0) + 30 * 86_400_000;
    try {
      const last = await pages.list({ limit: '8', cursor }, agent, shared);
      expect([last.status, last.body.data, last.body.paging]).toEqual([200, [], { cursors: {} }]);
      clock.nowMs -= 1;
      expect((await pages.list({ limit: '8', cursor }, agent, shared)).status).toBe(200);
    } finally {
      clock.nowMs = before;
    }
  });

  test('from one moment until before another', async () => {
    const at = (seconds: number) => new Date(acceptedAtMs + seconds * 1_000).toISOString();
    const { body } = await pages.list({ from: at(10), to: at(14) }, agent, shared);
    expect(listed(body)).toEqual([13, 11, 10].map((index) => heads[index]?.dispatchId));
    expect((await pages.list({ from: at(14), to: at(10) }, agent, shared)).body.data).toEqual([]);
    expect(listed((await pages.list({ to: at(3) }, agent, shared)).body)).toHaveLength(2);
  });

  test.each([
    ['from', 'yesterday'],
    ['from', ''],
    ['to', ''],
    ['to', '2026-02-30T00:00:00Z'],
    ['to', '2026-11-22T10:00:00 00:00'],
    ['limit', '101'],
    ['cursor', 'abc'],
  ])('%s=%s is refused', async (name, value) => {
    const { status, body } = await pages.list({ [name]: value }, agent, shared);
    expect([status, body.errors[0].path]).toEqual([400, name]);
  });
});
