import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { after } from '../../../../lib/aws/item-write.ts';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import { type DispatchItem, dispatchItemIn } from '../../../../lib/messages/dispatch/item.ts';
import { dispatchItemStore, executor } from '../../../../lib/messages/dispatch/item-store.ts';
import { type DispatchWrite, dispatchWrites } from '../../../../lib/messages/dispatch/item-writes.ts';
import { dispatchKey } from '../../../../lib/messages/dispatch/items.ts';
import { claimed, ended, withdrawn } from '../../../../lib/messages/dispatch/slice.ts';
import { sliceItemOf, sliceKeyOf } from '../../../../lib/messages/dispatch/slice-items.ts';
import { sliceStore } from '../../../../lib/messages/dispatch/slice-store.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { withdrawnDispatch } from '../../../support/messages-table/dispatch-item.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

/*
 * What each write does in each state is written here by hand: the model of explorations and the request follow from one
 * definition (item-writes.ts), so they agree even where a condition is missing.
 */

let table: string;
const client = localDocumentClient();

beforeAll(async () => {
  table = await freshTable('messages');
});

const head = 'as begun';
const stop = { state: 'failed', code: 'cancelled', atMs: 5_000 } as const;
const parked = { code: 'template_paused', scope: 'template', sinceMs: 1_000 } as const;
const later = { ...parked, sinceMs: 2_000 };

/** Each column of the table below is one of these states, in their order. */
const states: readonly (readonly [name: string, item: DispatchItem | undefined])[] = [
  ['no item', undefined],
  ['withdrawn', { withdrawnAtMs: 1, expiresAtSeconds: 9 }],
  ['stopped, not begun', { stop, expiresAtSeconds: 9 }],
  ['begun', { head }],
  ['stopped', { head, stop }],
  ['reckoned', { head, stop, underWay: { 0: 1 } }],
  ['parked, untold', { head, parked: { ...parked, untold: 'parked' } }],
  ['parked', { head, parked }],
  ['resumed, untold', { head, parked: { ...parked, untold: 'resumed' } }],
];

const first = { key: { dispatchId: '', slice: 0 }, atMs: 1, size: 10 };
const claim = claimed(undefined, { ...first, try: 0, owner: 'worker' });
const firstSlices = [undefined, claim, ended(claim, new Map()), withdrawn(first)];

interface Row {
  readonly write: (dispatchId: string) => DispatchWrite<unknown>;
  /** By state: `+` writes. Any other letter changes nothing and stands for an answer. */
  readonly in: string;
  readonly answers: Readonly<Record<string, unknown>>;
  /** An attribute that the item has stays. */
  readonly gives?: DispatchItem;
  readonly sets?: DispatchItem;
  readonly removes?: readonly (keyof DispatchItem)[];
}

const headOf = (dispatchId: string) => makeDispatchHead({ dispatchId, acceptedAtMs: 1_000, keptUntilMs: 8_000 });
const isWritten = { '+': true, '=': true, '.': false };
const noAnswer = { '+': undefined, '.': undefined };

const stopAs = (code: string, atMs: number) => (id: string) =>
  dispatchWrites.stop(headOf(id), { state: 'failed', code, atMs });
const park = (sinceMs: number) => (id: string) => dispatchWrites.park(id, { ...parked, sinceMs });
const stopped: Pick<Row, 'sets' | 'gives' | 'removes'> = {
  gives: { expiresAtSeconds: 8 },
  sets: { stop },
  removes: ['parked'],
};

const rows: Readonly<Record<string, Row>> = {
  begin: {
    write: (id) => dispatchWrites.begin(headOf(id)),
    in: '+.+ ++++++',
    answers: { '+': 'begun', '.': 'withdrawn' },
    gives: { head: 'its head' },
    sets: { expiresAtSeconds: 8 },
  },
  withdraw: {
    write: (id) => dispatchWrites.withdraw(id, 2_000),
    in: '+++ ......',
    answers: { '+': 'withdrawn', '.': 'begun' },
    sets: { withdrawnAtMs: 2_000, expiresAtSeconds: 2 + 125 * 86_400 },
  },
  'stop as the stopped one': {
    write: stopAs('cancelled', 5_000),
    in: '++= +==+++',
    answers: isWritten,
    ...stopped,
  },
  'stop with another code': {
    write: stopAs('132016', 5_000),
    in: '++. +..+++',
    answers: isWritten,
    ...stopped,
    sets: { stop: { ...stop, code: '132016' } },
  },
  'stop at another time': {
    write: stopAs('cancelled', 6_000),
    in: '++. +..+++',
    answers: isWritten,
    ...stopped,
    sets: { stop: { ...stop, atMs: 6_000 } },
  },
  'park as the parked one': {
    write: park(1_000),
    in: '... +..===',
    answers: isWritten,
    sets: { parked: { ...parked, untold: 'parked' } },
  },
  'park later': {
    write: park(2_000),
    in: '... +.....',
    answers: isWritten,
    sets: { parked: { ...parked, sinceMs: 2_000, untold: 'parked' } },
  },
  parkTold: {
    write: (id) => dispatchWrites.parkTold(id, parked),
    in: '... ...+..',
    answers: noAnswer,
    sets: { parked },
  },
  'parkTold of another pause': {
    write: (id) => dispatchWrites.parkTold(id, later),
    in: '... ......',
    answers: noAnswer,
  },
  resume: {
    write: (id) => dispatchWrites.resume(id, parked),
    in: '... ...+++',
    answers: isWritten,
    sets: { parked: { ...parked, untold: 'resumed' } },
  },
  'resume another pause': {
    write: (id) => dispatchWrites.resume(id, later),
    in: '... ......',
    answers: isWritten,
  },
  unpark: {
    write: (id) => dispatchWrites.unpark(id, parked),
    in: '... ...+++',
    answers: noAnswer,
    removes: ['parked'],
  },
  'unpark another pause': {
    write: (id) => dispatchWrites.unpark(id, later),
    in: '... ......',
    answers: noAnswer,
  },
  reckon: {
    write: (id) => dispatchWrites.reckon(id, { 0: 2 }),
    in: '..+ .+r...',
    answers: { '+': { 0: 2 }, r: { 0: 1 }, '.': { 0: 2 } },
    sets: { underWay: { 0: 2 } },
  },
  nameRetry: {
    write: (id) => dispatchWrites.nameRetry(id, 'R'),
    in: '... ++++++',
    answers: noAnswer,
    sets: { retriedBy: new Set(['R']) },
  },
};

async function stored(dispatchId: string): Promise<DispatchItem | undefined> {
  const get = new GetCommand({ TableName: table, Key: dispatchKey(dispatchId), ConsistentRead: true });
  const { Item } = await client.send(get);
  return Item && dispatchItemIn(Item);
}

async function put(dispatchId: string, item: DispatchItem | undefined): Promise<void> {
  if (item === undefined) return;
  await client.send(new PutCommand({ TableName: table, Item: { ...dispatchKey(dispatchId), ...item } }));
}

test.each(Object.entries(rows))('%s: in each state it writes or is refused (D25, D46, D53)', async (name, row) => {
  const letters = row.in.replaceAll(' ', '');
  expect(letters).toHaveLength(states.length);
  for (const [at, [state, before]] of states.entries()) {
    const dispatchId = `${name} ${state}`;
    const letter = letters[at] ?? '';
    await put(dispatchId, before);
    const write = row.write(dispatchId);
    const answer = await executor({ client, name: table })(write);
    const left = { ...row.gives, ...before, ...row.sets };
    if (left.head === 'its head') left.head = JSON.stringify(headOf(dispatchId));
    for (const each of row.removes ?? []) delete left[each];
    const item = await stored(dispatchId);
    expect([state, item]).toEqual([state, letter === '+' ? left : before]);
    const wanted = row.answers[letter];
    if (wanted === undefined) expect([state, answer]).toEqual([state, undefined]);
    else expect([state, { answer }]).toMatchObject([state, { answer: wanted }]);
    const modelled = after(write, before);
    expect([modelled.item, write.answer(modelled)]).toEqual([item, answer]);
  }
});

test('a withdrawal takes slice 0 as well, or nothing: where a worker has claimed it, or the dispatch has begun (D25)', async () => {
  const slices = sliceStore(tableOf(client, table));
  const accepted = acceptedDispatchesStore(tableOf(client, table, { nowMs: () => 2_000 }), async () => undefined);
  const answers: Record<string, string> = {};
  for (const [state, dispatch] of states.slice(0, 4)) {
    for (const [at, slice] of firstSlices.entries()) {
      const dispatchId = `${state} ${at}`;
      const key = { dispatchId, slice: 0 };
      await put(dispatchId, dispatch);
      if (slice !== undefined) {
        const Item = { ...sliceKeyOf(key), ...sliceItemOf(slice) };
        await client.send(new PutCommand({ TableName: table, Item }));
      }
      const answer = await accepted.withdraw(dispatchId);
      const modelled = withdrawnDispatch({ dispatch, slice: slice && { ...slice, key } }, dispatchId, 2_000);
      const left = { dispatch: await stored(dispatchId), slice: await slices.find(key), value: answer };
      expect(left).toEqual(modelled);
      answers[state] = `${answers[state] ?? ''}${answer[0]}`;
    }
  }
  expect(answers).toEqual({ 'no item': 'wbbw', withdrawn: 'wbbw', 'stopped, not begun': 'wbbw', begun: 'bbbb' });
});

test('states of many dispatches are one answer; one that has only begun says no more', async () => {
  const store = dispatchItemStore(tableOf(client, table, { pause: async () => undefined }));
  await put('many begun', { head: '{}' });
  await put('many stopped', { stop: { ...stop, reason: 'why' } });
  expect(await store.of(['many stopped', 'many begun', 'many stopped', 'none'])).toEqual(
    new Map([
      ['many stopped', { stop: { ...stop, reason: 'why' } }],
      ['many begun', { begun: true }],
    ]),
  );
});
