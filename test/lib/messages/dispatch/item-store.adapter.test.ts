import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { type DispatchItem, type DispatchItemState, dispatchItemIn } from '../../../../lib/messages/dispatch/item.ts';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import { dispatchItemStore } from '../../../../lib/messages/dispatch/item-store.ts';
import { dispatchKey, dispatchMemorySeconds } from '../../../../lib/messages/dispatch/items.ts';
import type { Slice } from '../../../../lib/messages/dispatch/slice.ts';
import { sliceStore } from '../../../../lib/messages/dispatch/slice-store.ts';
import { roundAfterLast } from '../../../../lib/messages/fan-out/dispatch-rounds.ts';
import { dispatchRoundsStore } from '../../../../lib/messages/fan-out/dispatch-rounds-store.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { type Withdrawable, withdrawnDispatch, writtenByName } from '../../../support/messages-table/dispatch-item.ts';
import { sliceWrites } from '../../../support/messages-table/slice-item.ts';
import { writtenBy } from '../../../support/messages-table/written.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';
import { thorough } from '../../../support/thorough.ts';

let table: string;
const client = localDocumentClient();

beforeEach(async () => {
  table = await freshTable('messages');
});

const dispatches = () => acceptedDispatchesStore(tableOf(client, table, { nowMs: () => 8_000 }));
const states = () => dispatchItemStore(tableOf(client, table, { pause: async () => undefined }));
const head = makeDispatchHead({ dispatchId: 'J', acceptedAtMs: 5_000 });
const parked = { code: 'template_paused', scope: 'template', sinceMs: 1_000 } as const;

async function begin(): Promise<void> {
  await dispatches().begin(head);
}

/** Returns the dispatch's state without `begun`. */
async function stateNow(dispatchId: string) {
  const state = (await states().of([dispatchId])).get(dispatchId);
  if (state === undefined) return undefined;
  const { begun: _, ...rest } = state;
  return rest;
}

test('a dispatch is stopped once: the first stop stays, repeated it is the same one', async () => {
  await begin();
  expect(await states().stop(head, cancelled(7_000))).toBe(true);
  expect(await states().stop(head, cancelled(7_000))).toBe(true);
  expect(await states().stop(head, { state: 'expired', code: 'template_paused', atMs: 9_000 })).toBe(false);
  expect(await stateNow('J')).toEqual({ stop: { state: 'failed', code: 'cancelled', atMs: 7_000 } });
});

test('a dispatch is stopped before the fan-out begins it; TTL removes it with its claims, and the fan-out reads the stop', async () => {
  await states().stop(head, cancelled(7_000));
  const { Item } = await client.send(new GetCommand({ TableName: table, Key: dispatchKey('J') }));
  expect(Item?.['expiresAtSeconds']).toBe(5 + dispatchMemorySeconds);
  await begin();
  expect(await stateNow('J')).toEqual({ stop: cancelled(7_000) });
});

test('a dispatch that was stopped may still be taken back (D25)', async () => {
  await states().stop(head, cancelled(7_000));
  expect(await dispatches().withdraw('J')).toBe('withdrawn');
});

test('a dispatch is parked once, only after it has begun, and resumed by the one that saw that very parking (D46)', async () => {
  expect(await states().park('J', parked)).toBe(false);
  await begin();
  expect(await states().park('J', parked)).toBe(true);
  expect(await states().park('J', parked)).toBe(true);
  expect(await states().park('J', { ...parked, sinceMs: 2_000 })).toBe(false);
  expect(await states().resume('J', { ...parked, sinceMs: 2_000 })).toBe(false);
  expect(await stateNow('J')).toEqual({ parked, pausedFromMs: 1_000 });
  expect(await states().resume('J', parked)).toBe(true);
  expect(await states().resume('J', parked)).toBe(false);
  expect(await stateNow('J')).toEqual({ pausedFromMs: 1_000 });
});

test('the pause outlasts the end of a waiting, and ends with the message that was taken (D46)', async () => {
  await begin();
  await states().park('J', parked);
  await states().resume('J', parked);
  await states().park('J', { ...parked, sinceMs: 9_000 });
  expect(await stateNow('J')).toEqual({ parked: { ...parked, sinceMs: 9_000 }, pausedFromMs: 1_000 });
  // The pause continues while the dispatch is parked: no watcher would report its end otherwise.
  expect(await states().endPause('J')).toBe(false);
  await states().goOn('J', 1_000);
  expect(await stateNow('J')).toEqual({ parked: { ...parked, sinceMs: 9_000 }, pausedFromMs: 1_000 });
  await states().resume('J', { ...parked, sinceMs: 9_000 });
  expect([await states().endPause('J'), await states().endPause('J')]).toEqual([true, true]);
  await states().park('J', { ...parked, sinceMs: 9_000 });
  await states().goOn('J', 9_000);
  await states().goOn('J', 9_000);
  expect((await stateNow('J'))?.parked).toEqual({ ...parked, sinceMs: 9_000, goesOn: true });
  await states().resume('J', { ...parked, sinceMs: 9_000, goesOn: true });
  expect(await stateNow('J')).toEqual({});
  await states().endPause('none');
  expect(await stateNow('none')).toBeUndefined();
});

test('a stop ends the waiting, and what is stopped is parked no more', async () => {
  await begin();
  await states().park('J', parked);
  await states().stop(head, cancelled(7_000));
  expect(await stateNow('J')).toEqual({ stop: cancelled(7_000) });
  expect(await states().park('J', { ...parked, sinceMs: 8_000 })).toBe(false);
});

test('states of many dispatches are one answer; one that has only begun says no more', async () => {
  await client.send(new PutCommand({ TableName: table, Item: { ...dispatchKey('BEGUN'), head: '{}', queued: 3 } }));
  await states().stop({ dispatchId: 'A', acceptedAtMs: 0 }, { ...cancelled(1), reason: 'why' });
  expect(await states().of(['A', 'BEGUN', 'A', 'none'])).toEqual(
    new Map<string, DispatchItemState>([
      ['A', { stop: { ...cancelled(1), reason: 'why' } }],
      ['BEGUN', { begun: true }],
    ]),
  );
});

/** Moments, rounds, owners and places are few, so that writes collide. */
const anyFacts = fc.record({
  sinceMs: fc.constantFrom(1_000, 2_000),
  goesOn: fc.constantFrom({}, { goesOn: true as const }),
  code: fc.constantFrom('cancelled', '132016'),
  underWay: fc.constantFrom({}, { 0: 1 }),
  round: fc.constantFrom(0, 0, 0, 1),
  owner: fc.constantFrom('a', 'a', 'b'),
  atMs: fc.constantFrom(0, 44_999, 45_000, 90_000),
  queued: fc.constantFrom(0, 30, 60),
  wave: fc.constantFrom({}, { wave: { until: 90, position: 7 } }, { wave: { from: 60, until: 90, position: 7 } }),
  nextRound: fc.constantFrom(0, 1, 2, roundAfterLast),
  try: fc.nat(1),
});
type Facts = ReturnType<typeof anyFacts.generate>['value'];

const runOf = ({ round, owner }: Facts, { dispatchId }: DispatchHead) => ({ dispatchId, round, owner });
const claimOf = (facts: Facts, { dispatchId }: DispatchHead) => {
  return { key: { dispatchId, slice: 0 }, try: facts.try, owner: facts.owner, atMs: facts.atMs, size: 10 };
};
const progressOf = ({ queued, wave }: Facts, { when }: DispatchHead) => {
  return { queued, ...wave, ...(when === undefined ? {} : { ofStretches: [queued, 0] }) };
};
const nextOf = ({ nextRound, sinceMs }: Facts, { when }: DispatchHead) => {
  return { round: nextRound, ...(when === undefined ? {} : { dueMs: sinceMs }) };
};
const parkedOf = ({ sinceMs }: Facts) => ({ ...parked, sinceMs });

/** Each write of a dispatch or of its first slice gets these arguments. */
const given: Readonly<Record<string, (facts: Facts, dispatch: DispatchHead) => readonly unknown[]>> = {
  begin: (_, dispatch) => [dispatch],
  nameRetry: ({ code }, dispatch) => [dispatch.dispatchId, code],
  withdraw: (_, dispatch) => [dispatch.dispatchId],
  stop: ({ code, sinceMs }, dispatch) => [dispatch, { state: 'failed', code, atMs: sinceMs }],
  park: (facts, dispatch) => [dispatch.dispatchId, parkedOf(facts)],
  goOn: ({ sinceMs }, dispatch) => [dispatch.dispatchId, sinceMs],
  resume: (facts, dispatch) => [dispatch.dispatchId, { ...parkedOf(facts), ...facts.goesOn }],
  endPause: (_, dispatch) => [dispatch.dispatchId],
  reckon: ({ underWay }, dispatch) => [dispatch.dispatchId, underWay],
  take: (facts, dispatch) => [runOf(facts, dispatch), facts.atMs],
  announce: (facts, dispatch) => [runOf(facts, dispatch), progressOf(facts, dispatch), facts.atMs],
  handOver: (facts, dispatch) => [runOf(facts, dispatch), progressOf(facts, dispatch), nextOf(facts, dispatch)],
  claim: (facts, dispatch) => [claimOf(facts, dispatch)],
  endUncalled: (facts, dispatch) => [claimOf(facts, dispatch), new Map([[0, { state: 'again', dueMs: 5 }]])],
};
/**
 * The writes of a group can collide: pauses and their ends; rounds; begin, take back, stop and claim; and all of them.
 */
const meeting = fc.constantFrom(
  ['park', 'park', 'goOn', 'resume', 'endPause'],
  ['take', 'announce', 'announce', 'handOver'],
  ['begin', 'withdraw', 'stop', 'reckon', 'claim', 'endUncalled', 'nameRetry'],
  ['park', 'resume', 'endPause', 'stop', 'reckon'],
  Object.keys(given),
);
const anyWrites = meeting.chain((names) =>
  fc.array(fc.tuple(fc.constantFrom(...names), anyFacts), { minLength: 1, maxLength: 16 }),
);

function afterWrite(
  { dispatch, slice }: Withdrawable,
  name: string,
  args: readonly unknown[],
): Withdrawable & { readonly value: unknown } {
  if (name === 'withdraw') return withdrawnDispatch({ dispatch, slice }, String(args[0]), 0);
  if (name in sliceWrites) {
    const { item, value } = writtenBy(sliceWrites, name, slice, args);
    return { dispatch, slice: item, value };
  }
  const { item, value } = writtenByName(name, dispatch, args);
  return { dispatch: item, slice, value };
}

let worlds = 0;

test('every write of a dispatch and of its first slice does what the model of explorations and worlds does (D25, D46, D53)', async () => {
  const nowMs = () => 0;
  const unused = () => Promise.reject(new Error('not asked here'));
  const accepted = acceptedDispatchesStore(tableOf(client, table, { nowMs }), async () => undefined);
  const slices = sliceStore(tableOf(client, table, { nowMs }));
  const stored = { find: unused, recipientsFrom: unused, list: unused };
  const stores = {
    ...{
      ...states(),
      ...dispatchRoundsStore(tableOf(client, table), stored),
      begin: states().begin,
      withdraw: accepted.withdraw,
    },
    ...{ claim: slices.claim, endUncalled: slices.endUncalled },
  } as Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;
  await fc.assert(
    fc.asyncProperty(anyWrites, fc.boolean(), fc.boolean(), async (writes, hasBegun, hasTime) => {
      worlds += 1;
      const dispatchId = `W${worlds}`;
      const when = hasTime ? { when: { asked: {}, fromMs: 1_000 } } : {};
      let [dispatch, slice]: [DispatchItem?, Slice?] = [];
      const before = hasBegun
        ? ([
            ['begin', {}],
            ['take', { round: 0, owner: 'a', atMs: 0 }],
          ] as const)
        : [];
      for (const [name, facts] of [...before, ...writes]) {
        const args = given[name]?.(facts as Facts, makeDispatchHead({ dispatchId, ...when })) ?? [];
        // A worker never makes a later try without a first one.
        if (name === 'claim' && slice === undefined && (facts as Facts).try > 0) continue;
        const answer = await stores[name]?.(...args);
        const modelled = afterWrite({ dispatch, slice }, name, args);
        expect(answer).toEqual(modelled.value);
        ({ dispatch, slice } = modelled);
        const [{ Item }, first] = await Promise.all([
          client.send(new GetCommand({ TableName: table, Key: dispatchKey(dispatchId), ConsistentRead: true })),
          slices.find({ dispatchId, slice: 0 }),
        ]);
        expect([Item && dispatchItemIn(Item), first]).toEqual([dispatch, slice]);
      }
    }),
    { numRuns: thorough ? 500 : 200 },
  );
});
