import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { dispatchesList } from '../../functions/dispatches-list.ts';
import { messagesReport } from '../../functions/messages-report.ts';
import { clientKey, didKey } from '../../lib/access/directory-items.ts';
import { directoryStore } from '../../lib/access/directory-store.ts';
import { tableOf } from '../../lib/aws/table.ts';
import { dispatchesCursor } from '../../lib/messages/report/dispatches.ts';
import { dispatchesStore } from '../../lib/messages/report/dispatches-store.ts';
import { reportCursor } from '../../lib/messages/report/report-cursor.ts';
import { reportStore } from '../../lib/messages/report/report-store.ts';
import { call, type TestCaller } from '../support/calls.ts';
import { makeChannel, makeWaba } from '../support/directory.ts';
import { makeDispatchHead } from '../support/made-dispatches.ts';
import { loadDispatch, noCost, putItems, shippedKnownRates } from '../support/reported-dispatches.ts';
import { freshTable, patientDocumentClient } from '../support/stores.ts';

/*
 * The digest of a cursor keeps no secret (lib/http/opaque-cursor.ts), so a reader of the code can forge cursors with a
 * right digest (D40).
 */

const acceptedAtMs = Date.UTC(2026, 10, 22, 10);
const nowMs = () => acceptedAtMs + 600_000;
const did = '5491100000001';
const agent: TestCaller = { userId: 'u', clientId: 1001 };
const documentClient = patientDocumentClient();
const table = { documentClient, tableName: await freshTable('messages') };
const directoryTable = { documentClient, tableName: await freshTable('directory') };
const directory = directoryStore(documentClient, directoryTable.tableName);
const list = dispatchesList({
  directory,
  nowMs,
  dispatches: dispatchesStore(tableOf(documentClient, table.tableName, { nowMs })),
});
const report = messagesReport({
  directory,
  nowMs,
  rates: shippedKnownRates,
  report: reportStore(tableOf(documentClient, table.tableName, { nowMs })),
});

const dispatchIds = [0, 1, 2, 3, 4].map((at) => `01KAH00000000000000000CRS${at}`);
const dispatchId = dispatchIds[4] ?? '';

beforeAll(async () => {
  await putItems(directoryTable, [
    { ...clientKey(1001) },
    { ...didKey(did), channel: makeChannel({ did }), waba: makeWaba() },
  ]);
  for (const [at, each] of dispatchIds.entries()) {
    await loadDispatch(
      table,
      makeDispatchHead({ dispatchId: each, did, acceptedAtMs: acceptedAtMs + at * 1_000, total: 5 }),
    );
  }
});

type Query = Readonly<Record<string, string>>;
const listed = (query: Query) => call(list, agent, { path: { did }, query });
const reported = (query: Query) => call(report, agent, { path: { did, dispatchId }, query });

/** Returns a cursor with the right digest around any text. */
function sealed(scope: string, text: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([scope, text]))
    .digest('base64url')
    .slice(0, 12);
  return Buffer.from(`${digest}${text}`).toString('base64url');
}

const sortKey = (atMs: number, of = dispatchId) => `${String(atMs).padStart(15, '0')}#${of}`;
const moment = (seconds: number) => new Date(acceptedAtMs + seconds * 1_000).toISOString();
const period = { from: moment(1), to: moment(4) };
const always = { clientId: 1001, did };
const question = { ...always, from: acceptedAtMs + 1_000, to: acceptedAtMs + 4_000 };
const listScope = `dispatches of a DID 1001 ${JSON.stringify([did, null, null, null, null, null])}`;
const reportScope = `report ${dispatchId} `;

const none = { pending: 0, held: 0, sent: 0, delivered: 0, read: 0, failed: 0, expired: 0, unknown: 0 };
const place = {
  position: 2,
  index: 2,
  total: 5,
  counts: { ...none, pending: 5 },
  cost: noCost,
  repeatedPartitions: [] as number[],
};
const placed = (changes: Partial<typeof place>) =>
  reportCursor({ dispatchId, states: undefined }, { ...place, ...changes });

test('the spelling that is forged here is the one that pages have', async () => {
  expect(sealed(listScope, JSON.stringify(sortKey(1)))).toBe(dispatchesCursor('of a DID', always, sortKey(1)));
  expect(sealed(reportScope, JSON.stringify([2, 2, 5, [5, 0, 0, 0, 0, 0, 0, 0], [], [0, 'list', false]]))).toBe(
    placed({}),
  );
  const first = await reported({ limit: '2' });
  expect(first.body).toMatchObject({ paging: { cursors: { after: placed({}) } } });
  expect(
    (await listed({ ...period, cursor: dispatchesCursor('of a DID', question, sortKey(acceptedAtMs + 3_999)) })).status,
  ).toBe(200);
});

/** These texts replace the JSON of a cursor. */
const texts = ['', '{', 'undefined', '[1', '"\\u00', '\u0000', `${'['.repeat(700)}`, '1e999', 'NaN'];
const values = [null, true, 0, -1, 1e308, '', [], {}, [[]], ['x'], { sk: sortKey(1) }, '__proto__', [2, 2, 5, 5, []]];
const garbage = ['abc', '=', '%00', 'A', 'A'.repeat(2_001), 'YWJj', '____', '-', ' ', '🙂', '../..', ',', 'null'];

describe('the list of dispatches', () => {
  test.each([
    ['beyond its end', dispatchesCursor('of a DID', question, sortKey(acceptedAtMs + 4_000)), period],
    ['far beyond its end', dispatchesCursor('of a DID', question, sortKey(999_999_999_999_999)), period],
    ['before its beginning', dispatchesCursor('of a DID', question, sortKey(acceptedAtMs + 999)), period],
    ['beyond what can be spelled', dispatchesCursor('of a DID', always, sortKey(999_999_999_999_999)), {}],
    ['of another client', dispatchesCursor('of a DID', { ...always, clientId: 1002 }, sortKey(acceptedAtMs)), {}],
    ['of another DID', dispatchesCursor('of a DID', { ...always, did: '5491100000002' }, sortKey(acceptedAtMs)), {}],
    ['of another period', dispatchesCursor('of a DID', always, sortKey(acceptedAtMs)), period],
    ['of a report', placed({}), {}],
    ['a sort key of another kind', dispatchesCursor('of a DID', always, 'DISPATCH'), {}],
    ['a sort key with more behind it', dispatchesCursor('of a DID', always, `${sortKey(acceptedAtMs)}\n`), {}],
    ...[...texts, ...values.map((value) => JSON.stringify(value))].map(
      (text) => [`${text.slice(0, 20)} with its digest`, sealed(listScope, text), {}] as const,
    ),
    ...garbage.map((text) => [text.slice(0, 20), text, {}] as const),
  ] as const)('%s is a 400', async (_, cursor, query) => {
    const { status, body } = await listed({ ...query, cursor });
    expect([status, body]).toEqual([400, refusal('cursor is not one of this list')]);
  });

  test('whatever is forged: a page or a 400', async () => {
    const anyCursor = fc.oneof(
      fc.string({ minLength: 1, unit: 'binary' }),
      fc.base64String({ minLength: 1 }),
      fc.json().map((text) => sealed(listScope, text)),
      fc.string({ minLength: 1 }).map((text) => sealed(listScope, text)),
      fc.nat({ max: 999_999_999_999_999 }).map((atMs) => dispatchesCursor('of a DID', always, sortKey(atMs))),
      fc.stringMatching(/^\d{15}#[0-9A-Z]{26}$/).map((key) => dispatchesCursor('of a DID', always, key)),
    );
    await fc.assert(
      fc.asyncProperty(anyCursor, async (cursor) => {
        expect([200, 400]).toContain((await listed({ cursor })).status);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the report', () => {
  test.each([
    ['behind the last recipient', placed({ position: 5, index: 5 })],
    ['far behind the last recipient', placed({ position: 10_000, index: 10_000, total: 10_000 })],
    ['before the first', placed({ position: 0, index: 0 })],
    ['of another index', placed({ index: 1 })],
    ['of a larger dispatch', placed({ total: 10_000, counts: { ...none, pending: 10_000 } })],
    ['of other partitions', placed({ repeatedPartitions: [39] })],
    ['with more counts than recipients', placed({ counts: { ...none, read: 6 } })],
    ['of another dispatch', reportCursor({ dispatchId: dispatchIds[0] ?? '', states: undefined }, place)],
    ['of another filter', reportCursor({ dispatchId, states: new Set(['pending']) }, place)],
    ['of the list', dispatchesCursor('of a DID', always, sortKey(acceptedAtMs))],
    ...[...texts, ...values.map((value) => JSON.stringify(value))].map(
      (text) => [`${text.slice(0, 20)} with its digest`, sealed(reportScope, text)] as const,
    ),
    ...garbage.map((text) => [text.slice(0, 20), text] as const),
  ] as const)('%s is a 400', async (_, cursor) => {
    const { status, body } = await reported({ cursor });
    expect([status, body]).toEqual([400, refusal('cursor is not one of this report')]);
  });

  test('whatever is forged: a page or a 400', async () => {
    const some = fc.oneof(fc.integer({ min: -1, max: 7 }), fc.integer(), fc.double());
    const anyCursor = fc.oneof(
      fc.string({ minLength: 1, unit: 'binary' }),
      fc.json().map((text) => sealed(reportScope, text)),
      fc
        .tuple(some, some, some, fc.array(some, { minLength: 7, maxLength: 9 }), fc.array(some))
        .map((value) => sealed(reportScope, JSON.stringify(value))),
    );
    await fc.assert(
      fc.asyncProperty(anyCursor, async (cursor) => {
        expect([200, 400]).toContain((await reported({ cursor })).status);
      }),
      { numRuns: 300 },
    );
  });
});

function refusal(message: string) {
  return { message, code: 'invalid_request', errors: [{ path: 'cursor', message }] };
}
