import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiReply, api, eventually, platform, synchronize, tokenOf } from '../support/api.ts';
import { readCsv } from '../support/read-csv.ts';
import { orderDid as did, dispatchTo } from '../support/sends.ts';

/* A client reads over HTTP what became of a dispatch (D40). What receipts tell of it is in contract/receipts.test.ts. */

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

let dispatchId: string;
let atOnce: ApiReply;

beforeAll(async () => {
  await synchronize('supervisor1001');
  for (const [to, action] of faults) await platform('POST /_control/faults', { match: { to }, action });
  dispatchId = await dispatchTo([plain, `+${slow}`, `+${plain}`, refused, unclear, held]);
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

// Pages, periods, filters and whose they are: test/functions/{messages-report,report-cursors}.adapter.test.ts.
describe('the list of dispatches', () => {
  test('has the newest first, page by page', async () => {
    const [second, third] = [await dispatchTo([plain]), await dispatchTo([plain])];
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
