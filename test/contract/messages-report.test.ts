import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import type { Receipt } from '../../lib/messages/receipts/receipt.ts';
import { receiptItems } from '../../lib/messages/receipts/receipt-items.ts';
import { type ApiReply, api, eventually, platform, synchronize, tokenOf } from '../support/api.ts';
import { makeDispatch } from '../support/made-dispatches.ts';
import { orderDid as did, sendOrders } from '../support/order-updates.ts';
import { readCsv } from '../support/read-csv.ts';
import { runningTarget } from '../support/running-target.ts';

/* A client reads over HTTP what became of a dispatch (D39, D40). */

const { documentClient, tableName } = runningTarget();
const messages = tableName('messages');

const plain = '549230000001';
const slow = '549230000002';
const refused = '549230000003';
const unclear = '549230000004';
const held = '15550000201';
const faults: readonly (readonly [to: string, action: object])[] = [
  [slow, { delay_ms: 4_000 }],
  [refused, { code: 132012 }],
  [unclear, { status: 503, code: 2 }],
];

async function report(dispatchId: string, query = '', path = `${did}/${dispatchId}`): Promise<ApiReply> {
  return api(`GET /v1/template/messages/${path}${query}`, { token: await tokenOf('supervisor1001') });
}

/** Records a receipt as the platform's webhook would. */
async function receive(receipt: Omit<Receipt, 'atMs' | 'platformMessageId'>): Promise<void> {
  const whole = { ...receipt, atMs: Date.now(), platformMessageId: `wamid.${receipt.index}` };
  for (const Item of receiptItems(receipt.dispatchId, [whole], Math.ceil(Date.now() / 1_000) + 86_400)) {
    await documentClient.send(new PutCommand({ TableName: messages, Item }));
  }
}

let dispatchId: string;
let atOnce: ApiReply;

beforeAll(async () => {
  await synchronize('supervisor1001');
  for (const [to, action] of faults) await platform('POST /_control/faults', { match: { to }, action });
  dispatchId = await sendOrders([plain, `+${slow}`, `+${plain}`, refused, unclear, held]);
  atOnce = await report(dispatchId);
  await eventually('all but the slow one have ended', async () =>
    (await report(dispatchId)).body.counts.pending <= 1 ? true : undefined,
  );
}, 60_000);

afterAll(async () => {
  await platform('DELETE /_control/faults').catch(() => undefined);
});

test('the report is there as soon as the 200 is, with everybody in it', () => {
  expect(atOnce).toMatchObject({
    status: 200,
    body: { dispatch_id: dispatchId, client_id: 1001, did, total: 6, complete: false, paging: { cursors: {} } },
  });
  expect(atOnce.body.template).toEqual({ name: 'order_update', language: 'en_US' });
  expect(Date.parse(atOnce.body.accepted_at)).toBeGreaterThan(Date.now() - 60_000);
  const rows = atOnce.body.data.map(({ index, to, duplicate_of }: Record<string, unknown>) => [
    index,
    to,
    duplicate_of,
  ]);
  expect(rows).toEqual([
    [0, plain, undefined],
    [1, `+${slow}`, undefined],
    [2, `+${plain}`, 0],
    [3, refused, undefined],
    [4, unclear, undefined],
    [5, held, undefined],
  ]);
  const { pending } = atOnce.body.counts;
  expect(pending).toBeGreaterThan(0);
});

test('every message is in the state that it is in, with code and reason where there is one', async () => {
  const { body } = await report(dispatchId);
  expect(body.data[3]).toMatchObject({ state: 'failed', code: '132012', reason: expect.stringMatching(/\w/) });
  expect(body.data[4]).toMatchObject({ state: 'unknown', code: '2' });
  expect(body.data[5]).toMatchObject({ state: 'held', code: 'held_for_quality_assessment' });
  expect(body.data[0].platform_message_id).toMatch(/\w/);
  expect(body.data[2]).toEqual({ ...body.data[0], index: 2, to: `+${plain}`, duplicate_of: 0 });
  const sum = Object.values(body.counts as Record<string, number>).reduce((total, count) => total + count, 0);
  expect([sum, body.complete]).toEqual([6, body.counts.pending === 0]);
});

test('receipts carry states further, settle an unknown, and count once however often they come (D39)', async () => {
  await receive({ dispatchId, index: 0, status: 'read' });
  await receive({ dispatchId, index: 0, status: 'sent' });
  await receive({ dispatchId, index: 0, status: 'read' });
  // A receipt names the index in the dispatch, where the duplicate has none.
  await receive({ dispatchId, index: 3, status: 'failed', code: '131026', reason: 'Message undeliverable' });
  const body = await eventually('the slow one ends', async () => {
    const { body } = await report(dispatchId);
    return body.complete ? body : undefined;
  });
  expect(body.data[0]).toMatchObject({
    index: 0,
    to: plain,
    state: 'read',
    platform_message_id: expect.stringMatching(/^wamid/),
  });
  expect(body.data[4]).toMatchObject({ to: unclear, state: 'failed', code: '131026', reason: 'Message undeliverable' });
  expect(body.counts).toMatchObject({ pending: 0, read: expect.any(Number), failed: 2, held: 1, unknown: 0 });
  expect(body.counts.read).toBeGreaterThanOrEqual(2);
});

describe('pages', () => {
  test('have each row once, and the counts of the first', async () => {
    const rows: number[] = [];
    const first = await report(dispatchId, '?limit=2');
    for (let page = first; ; page = await report(dispatchId, `?limit=2&cursor=${page.body.paging.cursors.after}`)) {
      expect([page.status, page.body.counts]).toEqual([200, first.body.counts]);
      rows.push(...page.body.data.map(({ index }: { index: number }) => index));
      if (page.body.paging.cursors.after === undefined) break;
    }
    expect(rows).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('show the states that are asked for', async () => {
    const { body } = await report(dispatchId, '?state=failed,held');
    expect(body.data.map(({ index }: { index: number }) => index)).toEqual([3, 4, 5]);
    expect(body.total).toBe(6);
  });

  test.each([
    ['state=lost', 'state'],
    ['limit=1001', 'limit'],
    ['cursor=nonsense', 'cursor'],
    ['client_id=abc', 'client_id'],
  ])('?%s: 400', async (query, path) => {
    expect(await report(dispatchId, `?${query}`)).toMatchObject({ status: 400, body: { errors: [{ path }] } });
  });
});

describe('a dispatch that is not one of the client, or not one of the DID, is none', () => {
  const notFound = { status: 404, body: { message: 'dispatch not found', code: 'dispatch_not_found' } };

  test('another client on the same DID', async () => {
    const token = await tokenOf('supervisor1002');
    expect(await api(`GET /v1/template/messages/${did}/${dispatchId}`, { token })).toMatchObject(notFound);
    const { body } = await api(`GET /v1/template/messages/${did}?limit=100`, { token });
    expect(body.data.filter(({ dispatch_id }: { dispatch_id: string }) => dispatch_id === dispatchId)).toEqual([]);
  });

  test.each([
    ['another DID', '5491100000002', () => dispatchId],
    ['one that was never given', did, () => ulid()],
    ['no id', did, () => 'DISPATCH'],
    ['a very long one', did, () => 'A'.repeat(3_000)],
  ])('%s', async (_, onDid, id) => {
    expect(await report('', '', `${onDid}/${id()}`)).toMatchObject(notFound);
  });

  test('an operator who names no client is told to, one who names the client sees it', async () => {
    const token = await tokenOf('operator');
    expect(await api(`GET /v1/template/messages/${did}/${dispatchId}`, { token })).toMatchObject({
      status: 404,
      body: { message: 'dispatch not found; pass client_id to work for another client than your own' },
    });
    expect((await api(`GET /v1/template/messages/${did}/${dispatchId}?client_id=1001`, { token })).status).toBe(200);
    expect(await api(`GET /v1/template/messages/${did}/${dispatchId}?client_id=1002`, { token })).toMatchObject(
      notFound,
    );
  });

  test('one that was taken back', async () => {
    const store = acceptedDispatchesStore(tableOf(documentClient, messages, { nowMs: Date.now }));
    const head = { dispatchId: ulid(), did, templateName: 'taken_back', acceptedAtMs: Date.now() };
    const dispatch = makeDispatch([{ to: plain }], head);
    await store.store(dispatch, AbortSignal.timeout(2_000));
    await store.list(dispatch, AbortSignal.timeout(2_000));
    await store.withdraw(head.dispatchId);
    expect(await report(head.dispatchId)).toMatchObject(notFound);
    const { body } = await report('', '?limit=100', did);
    const names = body.data.map(({ template }: { template: { name: string } }) => template.name);
    expect(names).not.toContain('taken_back');
  });
});

describe('the list of dispatches', () => {
  test('has the newest first, between two moments, page by page', async () => {
    const [second, third] = [await sendOrders([plain]), await sendOrders([plain])];
    const { body } = await report('', '?limit=2', did);
    const ids = (page: ApiReply['body']) => page.data.map(({ dispatch_id }: { dispatch_id: string }) => dispatch_id);
    expect(ids(body)).toEqual([third, second]);
    expect(body.data[1]).toEqual({
      dispatch_id: second,
      template: { name: 'order_update', language: 'en_US' },
      accepted_at: expect.stringMatching(/^\d{4}-.*Z$/),
      total: 1,
    });
    const next = await report('', `?limit=100&cursor=${body.paging.cursors.after}`, did);
    expect(ids(next.body)).toContain(dispatchId);
    const from = body.data[1].accepted_at;
    expect(ids((await report('', `?from=${from}`, did)).body)).toEqual([third, second]);
    expect(ids((await report('', `?to=${from}&limit=100`, did)).body)).not.toContain(second);
  });

  test.each([
    ['from=yesterday', 'from'],
    ['limit=101', 'limit'],
    ['cursor=nonsense', 'cursor'],
  ])('?%s: 400', async (query, path) => {
    expect(await report('', `?${query}`, did)).toMatchObject({ status: 400, body: { errors: [{ path }] } });
  });
});

test('the same report as CSV: every cell, page by page, by the links of its pages (D59)', async () => {
  const token = await tokenOf('supervisor1001');
  const asked = async (query: string, accept = 'text/csv') =>
    api(`GET /v1/template/messages/${did}/${dispatchId}${query}`, { token, headers: { accept } });
  const rows = (await report(dispatchId)).body.data as Readonly<Record<string, unknown>>[];
  const lines: string[][] = [];
  const types: (string | null)[] = [];
  for (let query: string | undefined = '?limit=4'; query !== undefined; ) {
    const page: ApiReply = await asked(query);
    expect(page.status).toBe(200);
    lines.push(...readCsv(page.text));
    types.push(page.headers.get('content-type'));
    query = /^<(\?limit=4&.+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
  }
  expect(types).toEqual(['text/csv; charset=utf-8; header=present', 'text/csv; charset=utf-8; header=absent']);
  const [columns = [], ...cells] = lines;
  expect(columns.slice(0, 6)).toEqual(['index', 'to', 'user_id', 'wa_id', 'state', 'code']);
  expect(rows.flatMap((row) => Object.keys(row)).filter((name) => !columns.includes(name))).toEqual([]);
  expect(cells).toEqual(rows.map((row) => columns.map((column) => String(row[column] ?? ''))));
  const filtered = readCsv((await asked('?state=failed')).text).slice(1);
  expect(filtered.map(([index]) => index)).toEqual(
    rows.filter(({ state }) => state === 'failed').map(({ index }) => String(index)),
  );
  for (const accept of ['*/*', 'application/xml', 'application/json, text/csv']) {
    expect((await asked('?limit=1', accept)).body.data).toHaveLength(1);
  }
  expect(await asked('?limit=0')).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
});
