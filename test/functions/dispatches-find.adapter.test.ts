import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { dispatchesFind } from '../../functions/dispatches-find.ts';
import { clientKey } from '../../lib/access/directory-items.ts';
import { directoryStore } from '../../lib/access/directory-store.ts';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import type { DispatchHead } from '../../lib/messages/dispatch/head.ts';
import { cancelled } from '../../lib/messages/dispatch/item-state.ts';
import { dispatchItemStore } from '../../lib/messages/dispatch/item-store.ts';
import { dispatchesPartition, keptAfterLastCallMs, spentKey } from '../../lib/messages/dispatch/items.ts';
import type { Outcome } from '../../lib/messages/dispatch/slice.ts';
import { sliceStore } from '../../lib/messages/dispatch/slice-store.ts';
import { pointerOfClient } from '../../lib/messages/dispatch/whole-dispatch.ts';
import { cancelCampaign } from '../../lib/messages/find/cancel-campaign.ts';
import { dispatchStatusStore } from '../../lib/messages/find/dispatch-status-store.ts';
import type { DispatchFilter } from '../../lib/messages/report/dispatches.ts';
import { dispatchesStore } from '../../lib/messages/report/dispatches-store.ts';
import { reportStore } from '../../lib/messages/report/report-store.ts';
import { claimLifeMs } from '../../lib/messages/send/deadlines.ts';
import { beginListed } from '../support/begun-dispatches.ts';
import { call, type TestCaller } from '../support/calls.ts';
import { makeDispatch, makeDispatchHead } from '../support/made-dispatches.ts';
import { noCosts } from '../support/no-costs.ts';
import { loadDispatch, loadReceipts, putItems, recipientOf } from '../support/reported-dispatches.ts';
import { claimOf, loadSlices } from '../support/reported-slices.ts';
import { meterRequests } from '../support/request-meter.ts';
import { freshTable, patientDocumentClient } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';

const acceptedAtMs = Date.UTC(2026, 10, 22, 10);
const nowMs = acceptedAtMs + 10 * claimLifeMs;
const dayMs = 86_400_000;
const plain = patientDocumentClient();
const table = { documentClient: plain, tableName: await freshTable('messages') };
const directoryTable = { documentClient: plain, tableName: await freshTable('directory') };
await putItems(
  directoryTable,
  [1001, 1002].map((clientId) => ({ ...clientKey(clientId), clientId })),
);

const none = { pending: 0, held: 0, sent: 0, delivered: 0, read: 0, failed: 0, expired: 0, unknown: 0 };
const idOf = (name: string) => name.toUpperCase().padStart(26, '0');
const headOf = (name: string, changes: Partial<DispatchHead> = {}): DispatchHead =>
  makeDispatchHead({ dispatchId: idOf(name), acceptedAtMs, total: 3, ...changes });

const client = patientDocumentClient();
const meter = meterRequests(client);
const atMs = () => nowMs;
const dispatches = dispatchesStore(tableOf(client, table.tableName, { nowMs: atMs }));
const states = dispatchItemStore(tableOf(plain, table.tableName, { pause: async () => undefined }));
const find = dispatchesFind({
  directory: directoryStore(plain, directoryTable.tableName),
  dispatches,
  standings: dispatchStatusStore(tableOf(client, table.tableName, { nowMs: atMs })),
  nowMs: atMs,
});

type Query = Readonly<Record<string, string | undefined>>;
async function found(query: Query, caller: TestCaller = { userId: 'u', clientId: 1001 }) {
  meter.taken();
  const { status, body } = await call(find, caller, { query });
  // biome-ignore lint/suspicious/noExplicitAny: an answer's JSON, read as its tests say.
  return { status, body: body as any, cost: meter.taken() };
}
const idsIn = (body: { data: { dispatch_id: string }[] }) => body.data.map(({ dispatch_id }) => dispatch_id);

/** Returns every page of a question, and its highest cost. */
async function allPages(query: Query, caller?: TestCaller) {
  const ids: string[] = [];
  let [cursor, pages, roundTrips] = ['', 0, 0];
  do {
    const { body, cost } = await found({ ...query, ...(cursor === '' ? {} : { cursor }) }, caller);
    ids.push(...idsIn(body));
    pages += 1;
    roundTrips = Math.max(roundTrips, cost.roundTrips);
    cursor = body.paging.cursors.after ?? '';
  } while (cursor !== '');
  return { ids, pages, roundTrips };
}

describe('a client with many dispatches (D59, R58)', () => {
  const count = thorough ? 100_000 : 2_100;
  const many: TestCaller = { userId: 'm', clientId: 7 };
  const rare = new Set([1, Math.floor(count / 2), count - 2]);
  const heads = Array.from({ length: count }, (_, at) =>
    makeDispatchHead({
      ...{ dispatchId: idOf(`M${at}`), clientId: 7, acceptedAtMs: acceptedAtMs + at, total: 3 },
      ...(rare.has(at) ? { campaignId: 5, did: '5491100000009', templateName: 'rare' } : { campaignId: 6 }),
    }),
  );
  beforeAll(
    () =>
      putItems(
        table,
        heads.map((head) => pointerOfClient(head, head.total)),
      ),
    240_000,
  );

  test('has a page in two round trips, wherever it is in the list', async () => {
    const middle = new Date(acceptedAtMs + Math.floor(count / 2)).toISOString();
    for (const query of [{}, { to: middle }, { from: middle, limit: '100' }]) {
      const { status, body, cost } = await found(query, many);
      expect([status, body.data.length, cost.roundTrips]).toEqual([200, Number((query as Query)['limit'] ?? 20), 2]);
      expect(cost.readUnits).toBeLessThan(600);
    }
  });

  test('has a page of a filter in two round trips, and all that passes it in the pages together', async () => {
    const wanted = heads
      .filter((_, at) => rare.has(at))
      .map(({ dispatchId }) => dispatchId)
      .reverse();
    for (const query of [{ campaign_id: '5' }, { did: '5491100000009' }, { template: 'rare', campaign_id: '5' }]) {
      const { ids, pages, roundTrips } = await allPages(query as unknown as Query, many);
      expect([ids, roundTrips]).toEqual([wanted, 2]);
      expect(pages).toBeLessThanOrEqual(Math.ceil(count / 2_000) + 1);
    }
  }, 60_000);

  test('has the list of one DID in full pages, however many others lie between (D40)', async () => {
    const question = { clientId: 7, did: '5491100000009' };
    const first = await dispatches.listAccepted(question, { after: undefined, limit: 2 });
    expect(first.accepted.map(({ dispatchId }) => dispatchId)).toEqual([
      heads[count - 2]?.dispatchId,
      heads[Math.floor(count / 2)]?.dispatchId,
    ]);
    const last = await dispatches.listAccepted(question, { after: first.next, limit: 2 });
    expect([last.accepted.map(({ dispatchId }) => dispatchId), last.next]).toEqual([[heads[1]?.dispatchId], undefined]);
  }, 60_000);
});

describe('how each dispatch stands', () => {
  const slices = sliceStore(tableOf(plain, table.tableName, { nowMs: () => acceptedAtMs }));
  const dispatches = acceptedDispatchesStore(tableOf(plain, table.tableName, { nowMs: atMs }));
  const names = ['pending', 'read', 'part', 'held', 'cancelled', 'scheduled', 'repeats', 'taken', 'large'];
  const heads = Object.fromEntries(
    names.map((name, at) => [
      name,
      headOf(name, { acceptedAtMs: acceptedAtMs + at * 1_000, campaignId: 10 + (at % 2) }),
    ]),
  ) as Record<string, DispatchHead>;
  const head = (name: string) => heads[name] as DispatchHead;
  const rowOf = (body: { data: { dispatch_id: string }[] }, name: string) =>
    body.data.find(({ dispatch_id }) => dispatch_id === head(name).dispatchId);

  const failed: Outcome = { state: 'failed', code: '131026' };
  const again: Outcome = { state: 'again', dueMs: nowMs };
  const sent = (platformMessageId: string): Outcome => ({ state: 'sent', platformMessageId });
  const endFirstSlice = async (of: DispatchHead, outcomes: readonly Outcome[]) => {
    const { slice } = await slices.claim(claimOf(of, 0, { atMs: acceptedAtMs }));
    await slices.end(slice, new Map(outcomes.entries()));
  };
  const beginRepeated = async (of: DispatchHead, repeats: [number, number][]) => {
    const dispatch = { ...makeDispatch([0, 1, 2].map((index) => ({ to: recipientOf(index) }))), head: of };
    await dispatches.store({ ...dispatch, repeats }, AbortSignal.timeout(2_000));
    await beginListed(dispatches, { head: of, repeats });
  };

  beforeAll(async () => {
    Object.assign(head('large'), { total: 1_200 });
    Object.assign(head('scheduled'), {
      when: { asked: { send_at: '2026-11-25T09:00:00-03:00' }, fromMs: nowMs + dayMs },
      keptUntilMs: nowMs + 2 * dayMs + keptAfterLastCallMs,
      retryOf: idOf('part'),
    });
    for (const name of names.filter((each) => each !== 'repeats')) await loadDispatch(table, head(name));
    await loadSlices(table, head('read'));
    await loadReceipts(table, head('read'), 10);
    await endFirstSlice(head('part'), [failed, again, again]);
    await loadSlices(table, head('large'));
    await states.park(head('held').dispatchId, { code: '131031', scope: 'waba', sinceMs: nowMs - 5 });
    await states.stop(head('cancelled'), cancelled(nowMs - 2 * claimLifeMs));
    const report = reportStore(tableOf(plain, table.tableName, { nowMs: atMs }));
    await report.reckon(head('cancelled').dispatchId, {});
    await beginRepeated(head('repeats'), [[3, 0]]);
    await endFirstSlice(head('repeats'), [failed, sent('w'), sent('x')]);
    // This dispatch was listed, and withdrawn before it began.
    await putItems(table, [pointerOfClient(headOf('gone', { acceptedAtMs: acceptedAtMs + 500 }), 3)]);
    await dispatches.withdraw(idOf('gone'));
    await putItems(table, [
      { ...spentKey(head('read').dispatchId), cost: { units: 185_400, basis: 'platform', final: true } },
    ]);
  });

  test('each with its counts, its state and its cost, newest first, without one that was taken back, in two round trips', async () => {
    const { body, cost } = await found({});
    expect(idsIn(body)).toEqual(names.map((name) => head(name).dispatchId).reverse());
    expect(cost.roundTrips).toBe(2);
    const about = ({ templateName: name, templateLanguage: language }: DispatchHead) => ({
      template: { name, language },
    });
    const of = (name: string) => ({
      ...{ dispatch_id: head(name).dispatchId, client_id: 1001, did: head(name).did, ...about(head(name)) },
      ...{ campaign_id: head(name).campaignId, accepted_at: new Date(head(name).acceptedAtMs).toISOString() },
    });
    const nothingYet = { amount: 0, currency: 'USD', basis: 'list', final: false };
    const open = { total: 3, counts: { ...none, pending: 3 }, complete: false, cost: nothingYet };
    expect(rowOf(body, 'pending')).toEqual({ ...of('pending'), ...open, state: 'running' });
    expect(rowOf(body, 'read')).toEqual({
      ...of('read'),
      ...{ total: 3, counts: { ...none, read: 3 }, complete: true, state: 'complete' },
      cost: { amount: 0.001854, currency: 'USD', basis: 'platform', final: true },
    });
    expect(rowOf(body, 'part')).toMatchObject({ counts: { ...none, pending: 2, failed: 1 }, state: 'running' });
    expect(rowOf(body, 'held')).toEqual({ ...of('held'), ...open, state: 'held' });
    expect(rowOf(body, 'cancelled')).toMatchObject({
      counts: { ...none, failed: 3 },
      complete: true,
      state: 'cancelled',
    });
    expect(rowOf(body, 'scheduled')).toEqual({
      ...{ ...of('scheduled'), ...open, state: 'scheduled', retry_of: idOf('part') },
      schedule: { send_at: '2026-11-25T09:00:00-03:00', from: new Date(nowMs + dayMs).toISOString() },
    });
    expect(rowOf(body, 'repeats')).toMatchObject({
      total: 4,
      counts: { ...none, sent: 2, failed: 2 },
      state: 'complete',
    });
    expect(rowOf(body, 'large')).toMatchObject({ total: 1_200, counts: { ...none, sent: 1_200 }, state: 'complete' });
  });

  test.each<[Query, string[]]>([
    [{ state: 'scheduled' }, ['scheduled']],
    [{ state: 'held, cancelled' }, ['cancelled', 'held']],
    [{ state: 'complete' }, ['large', 'repeats', 'read']],
    [{ state: 'running' }, ['taken', 'part', 'pending']],
    [{ campaign_id: '11', state: 'running' }, ['taken']],
    [{ did: '5491100000002' }, []],
    [{ did: '5'.repeat(3_000) }, []],
    [{ template: 'order_updat' }, []],
    [
      { from: new Date(acceptedAtMs + 1_000).toISOString(), to: new Date(acceptedAtMs + 3_000).toISOString() },
      ['part', 'read'],
    ],
  ])('%j', async (query, expected) => {
    const { ids, roundTrips } = await allPages({ ...query, limit: '2' });
    expect([ids, roundTrips]).toEqual([expected.map((name) => head(name).dispatchId), expect.any(Number)]);
    expect(roundTrips).toBeLessThanOrEqual(2);
  });

  /** The place of the second page is inside the moments. */
  const someOnly: Readonly<Record<DispatchFilter, string>> = {
    ...{ did: '5', campaign_id: '10', template: 'x', state: 'held' },
    from: new Date(acceptedAtMs + 1_000).toISOString(),
    to: new Date(acceptedAtMs + 8_000).toISOString(),
  };

  test.each(Object.entries(someOnly))('not all pass %s, and it has cursors of its own', async (filter, value) => {
    expect((await allPages({ [filter]: value })).ids.length).toBeLessThan(names.length);
    const { after } = (await found({ limit: '2' })).body.paging.cursors;
    expect((await found({ [filter]: value, cursor: after })).status).toBe(400);
  });

  test('no other client sees them, and a cursor is of one client alone', async () => {
    const other: TestCaller = { userId: 'v', clientId: 1002 };
    expect((await found({}, other)).body).toEqual({ data: [], paging: { cursors: {} } });
    expect((await found({ client_id: '1001' }, other)).status).toBe(403);
    const operator: TestCaller = { userId: 'o', clientId: 1, permissions: ['BSP_CN'] };
    expect(idsIn((await found({ client_id: '1001' }, operator)).body)).toHaveLength(names.length);
    const { after } = (await found({ limit: '2' })).body.paging.cursors;
    expect((await found({ cursor: after })).body.data).toHaveLength(names.length - 2);
    expect((await found({ cursor: after }, other)).status).toBe(400);
  });

  test('a page goes on where dispatches come and go between its pages', async () => {
    const first = await found({ limit: '3' });
    const late = headOf('late', { acceptedAtMs: nowMs });
    await loadDispatch(table, late);
    const second = await found({ limit: '3', cursor: first.body.paging.cursors.after });
    expect([...idsIn(first.body), ...idsIn(second.body)]).toEqual(
      names
        .map((name) => head(name).dispatchId)
        .reverse()
        .slice(0, 6),
    );
    expect(idsIn((await found({ limit: '1' })).body)).toEqual([late.dispatchId]);
    const key = { pk: dispatchesPartition(1001), sk: pointerOfClient(late, 3)['sk'] };
    await plain.send(new DeleteCommand({ TableName: table.tableName, Key: key }));
  });
});

test('a dispatch is listed as long as its report is kept, though others of its age are gone', async () => {
  const caller: TestCaller = { userId: 'k', clientId: 8 };
  const old = nowMs - 40 * dayMs;
  const kept = headOf('kept', {
    clientId: 8,
    acceptedAtMs: old,
    keptUntilMs: nowMs + 1,
    when: { asked: {}, fromMs: old },
  });
  await loadDispatch(table, kept);
  await loadDispatch(table, headOf('aged', { clientId: 8, acceptedAtMs: old + 1 }));
  await loadDispatch(
    table,
    headOf('ended', { clientId: 8, acceptedAtMs: old + 2, keptUntilMs: nowMs, when: { asked: {}, fromMs: old } }),
  );
  await loadDispatch(table, headOf('young', { clientId: 8 }));
  expect((await allPages({ limit: '1' }, caller)).ids).toEqual([idOf('young'), kept.dispatchId]);
});

describe('what is too much to read', () => {
  const caller: TestCaller = { userId: 'b', clientId: 9 };
  const big = (name: string, at: number) =>
    headOf(name, { clientId: 9, acceptedAtMs: acceptedAtMs + at, total: 10_000 });
  const heads = Array.from({ length: 12 }, (_, at) => big(`B${at}`, at));
  const counted = { ...none, sent: 9_999, pending: 1 };

  beforeAll(async () => {
    await putItems(
      table,
      heads.map((head) => pointerOfClient(head, head.total)),
    );
  });

  test('ends a page, and the next one goes on, in two round trips each; where a statement says it, it is told by that', async () => {
    const wanted = heads.map(({ dispatchId }) => dispatchId).reverse();
    expect(await allPages({}, caller)).toEqual({ ids: wanted, pages: 2, roundTrips: 2 });
    const cost = { units: 0, basis: 'list', final: false };
    await putItems(
      table,
      heads.slice(0, 3).map(({ dispatchId }) => ({ ...spentKey(dispatchId), counts: counted, cost })),
    );
    const { body } = await found({}, caller);
    expect([idsIn(body), body.paging.cursors]).toEqual([wanted, {}]);
    expect(body.data[11]).toMatchObject({
      counts: counted,
      complete: false,
      state: 'running',
      cost: { amount: 0, final: false },
    });
  }, 30_000);
});

describe('cancelling a campaign (D59)', () => {
  const report = reportStore(tableOf(plain, table.tableName, { nowMs: atMs }));
  const own = dispatchesStore(tableOf(plain, table.tableName, { nowMs: atMs }));
  const logged: unknown[] = [];
  /** `tickMs` pass with every read of the clock. */
  const ports = (tickMs = 0) => {
    let now = nowMs;
    return {
      ...{ report, states, dispatches: own, countNow: noCosts.countNow, wakeNumber: async () => undefined },
      nowMs: () => {
        now += tickMs;
        return now;
      },
      log: (event: string, facts: object) => void logged.push([event, facts]),
    };
  };
  const of = (name: string, changes: Partial<DispatchHead> = {}) =>
    headOf(name, { clientId: 11, campaignId: 30, ...changes });

  test('ends what is not complete of it, also what is scheduled, and nothing else; repeated it cancels nothing more', async () => {
    const [open, timed, done] = [
      of('C1'),
      of('C2', { when: { asked: {}, fromMs: nowMs + dayMs }, keptUntilMs: nowMs + 40 * dayMs }),
      of('C3'),
    ];
    const others = [of('C4', { campaignId: 31 }), of('C5', { clientId: 12 })];
    for (const head of [open, timed, done, ...others]) await loadDispatch(table, head);
    await loadSlices(table, done);
    expect(await cancelCampaign(ports(), { clientId: 11, campaignId: 30 })).toEqual({ cancelled: 2, more: false });
    const ended = await states.of([open, timed, done, ...others].map(({ dispatchId }) => dispatchId));
    const stops = [open, timed, done, ...others].map(({ dispatchId }) => ended.get(dispatchId)?.stop?.code);
    expect(stops).toEqual(['cancelled', 'cancelled', undefined, undefined, undefined]);
    expect(ended.get(open.dispatchId)?.underWay).toEqual({});
    const ids = [timed, open].map(({ dispatchId }) => ['dispatch.cancelled', { dispatchId, clientId: 11 }]);
    expect(logged).toEqual(expect.arrayContaining(ids));
    expect(logged).toHaveLength(2);
    expect(await cancelCampaign(ports(), { clientId: 11, campaignId: 30 })).toEqual({ cancelled: 0, more: false });
  });

  test('looks once more at one that was listed and had not begun yet', async () => {
    const head = of('E1', { clientId: 14 });
    await putItems(table, [pointerOfClient(head, head.total)]);
    expect(await cancelCampaign(ports(), { clientId: 14, campaignId: 30 })).toEqual({ cancelled: 0, more: false });
    await loadDispatch(table, head);
    expect(await cancelCampaign(ports(), { clientId: 14, campaignId: 30 })).toEqual({ cancelled: 1, more: false });
  });

  test('says when its time was over, and goes on where it ended until nothing is left', async () => {
    const heads = Array.from({ length: 30 }, (_, at) =>
      of(`D${at}`, { clientId: 13, acceptedAtMs: acceptedAtMs + at }),
    );
    for (const head of heads) await loadDispatch(table, head);
    const answers: { cancelled: number; more: boolean }[] = [];
    do answers.push(await cancelCampaign(ports(1_000), { clientId: 13, campaignId: 30 }));
    while (answers.at(-1)?.more === true);
    expect(answers.reduce((sum, answer) => sum + answer.cancelled, 0)).toBe(30);
    expect(answers.length).toBeGreaterThan(2);
    const ended = await states.of(heads.map(({ dispatchId }) => dispatchId));
    expect([...ended.values()].filter(({ stop }) => stop?.code === 'cancelled')).toHaveLength(30);
  });
});
