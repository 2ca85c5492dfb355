import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DispatchItemState } from '../../../../lib/messages/dispatch/item.ts';
import type { Ending } from '../../../../lib/messages/dispatch/item-state.ts';
import {
  lost,
  type Outcome,
  provenByReceipt,
  type Recorded,
  type Slice,
  withdrawn,
} from '../../../../lib/messages/dispatch/slice.ts';
import { foldReceipts } from '../../../../lib/messages/receipts/fold-receipts.ts';
import {
  countStates,
  outcomeOf,
  outcomesOf,
  totalOf,
  underWayIn,
  type WrittenMessages,
} from '../../../../lib/messages/report/outcome.ts';
import { claimLifeMs } from '../../../../lib/messages/send/deadlines.ts';

const nowMs = 1_800_000_000_000;
const index = 27;
const key = { dispatchId: 'J', slice: 2 };
const again = { state: 'again', dueMs: nowMs + 1 } as const;
const noAnswer = { state: 'unknown', code: 'no_answer' } as const;

/** Makes a slice with the recorded outcome of the message at its place. */
function slice(known: Recorded | undefined, changes: Partial<Slice> = {}): Slice {
  const outcomes = Array.from({ length: 10 }, (_, place) => (place === index % 10 ? known : undefined));
  return { key, try: 1, version: 3, owner: 'run-1', atMs: nowMs - 5_000, state: 'ended', outcomes, ...changes };
}

const living = { state: 'claimed', atMs: nowMs - claimLifeMs + 1 } as const;
const dead = { state: 'claimed', atMs: nowMs - claimLifeMs } as const;
const sent = { state: 'sent', platformMessageId: 'w-7' } as const;
const stop = { state: 'failed', code: 'cancelled', atMs: nowMs - 10 } as const;
const parked = { code: 'template_paused', scope: 'template', sinceMs: nowMs - 10 } as const;
const paused = { state: 'pending', code: parked.code } as const;
const refused = { state: 'failed', code: '131026', reason: 'no such person' } as const;
const byHand = { state: 'failed', code: 'resolved_by_operator' } as const;
const cancelled = { state: 'failed', code: 'cancelled' } as const;
const atMs = nowMs - 5_000;

type Case = readonly [string, Slice | undefined, DispatchItemState, object];

describe('what became of a recipient, by its slice', () => {
  test.each<Case>([
    ['none', undefined, {}, { state: 'pending' }],
    ['none, of a parked dispatch', undefined, { parked }, paused],
    ['to be tried again', slice(again), {}, { state: 'pending' }],
    ['to be tried again, of a parked dispatch', slice(again), { parked }, paused],
    ['being tried', slice(undefined, living), {}, { state: 'pending' }],
    ['being tried, of a parked dispatch', slice(undefined, living), { parked }, { state: 'pending' }],
    ['being tried again', slice(again, living), {}, { state: 'pending' }],
    ['whose worker is dead', slice(undefined, dead), {}, { ...lost, atMs: dead.atMs }],
    ['whose worker is dead, in a later try', slice(again, dead), {}, { ...lost, atMs: dead.atMs }],
    ['sent', slice(sent), {}, { ...sent, atMs }],
    ['sent, while others are tried again', slice(sent, living), {}, { ...sent, atMs: living.atMs }],
    ['sent, while a worker died with others', slice(sent, dead), {}, { ...sent, atMs: dead.atMs }],
    ['held', slice({ ...sent, held: 'paused' }), {}, { state: 'held', code: 'paused', platformMessageId: 'w-7', atMs }],
    ['sent, by a receipt', slice(provenByReceipt), {}, { state: 'sent' }],
    ['sent, by a later receipt', slice({ ...provenByReceipt, resolvedAtMs: nowMs }), {}, { state: 'sent' }],
    ['refused', slice(refused), {}, { ...refused, atMs }],
    ['expired', slice({ state: 'expired', code: 'expired' }), {}, { state: 'expired', code: 'expired', atMs }],
    ['without an answer', slice(noAnswer), {}, { ...noAnswer, atMs }],
    ['settled by hand', slice({ ...byHand, resolvedAtMs: nowMs }), {}, { ...byHand, atMs: nowMs }],
    [
      'settled by hand as sent',
      slice({ ...byHand, state: 'sent', resolvedAtMs: nowMs }),
      {},
      { ...byHand, state: 'sent', atMs: nowMs },
    ],
  ])('%s', (_, there, dispatch, expected) => {
    expect(outcomeOf(index, { slice: there, dispatch }, nowMs)).toEqual(expected);
  });
});

/** `first` and `second`: try 0 or 1 may have called a recipient when the stop was processed. `none`: no try had. */
const none = { stop, underWay: { '1': 1, '3': 1 } };
const first = { stop, underWay: { '2': 0 } };
const second = { stop, underWay: { '2': 1 } };

describe('the same, of what has a time of its own (D56)', () => {
  const later = nowMs + 3_600_000;
  const closed = [{ until: 100, open: [[later, later + 1_000] as const] }];
  const open = [{ until: 100, open: [[nowMs - 1, later] as const] }];
  const scheduled = { state: 'pending', code: 'scheduled', scheduledForMs: later };
  test.each<readonly [string, Slice | undefined, DispatchItemState & Ending, object]>([
    ['not released', undefined, { lots: closed }, scheduled],
    ['to be tried again', slice(again), { lots: closed }, scheduled],
    ['closed, whatever else it waits for', undefined, { lots: closed, parked }, scheduled],
    ['under way while it closes', slice(undefined, living), { lots: closed }, { state: 'pending' }],
    ['open, of a parked dispatch', undefined, { lots: open, parked }, paused],
    ['open', undefined, { lots: open }, { state: 'pending' }],
    ['of the lot behind', undefined, { lots: [{ until: 27, open: [] }, ...closed] }, scheduled],
    ['never to open within its time to live', undefined, { lots: closed, expiresAtMs: later }, { state: 'pending' }],
    ['cancelled', undefined, { lots: closed, stop, underWay: {} }, stop],
    ['sent before', slice(sent), { lots: closed }, { ...sent, atMs }],
  ])('%s', (_, of, dispatch, expected) => {
    expect(outcomeOf(index, { slice: of, dispatch }, nowMs)).toEqual(expected);
  });
});

describe('the same, of a dispatch that was stopped (D46, D53)', () => {
  test.each<Case>([
    ['none, not reckoned yet', undefined, { stop }, { state: 'pending' }],
    ['to be tried again, not reckoned yet', slice(again), { stop }, { state: 'pending' }],
    ['being tried, not reckoned yet', slice(undefined, living), { stop }, { state: 'pending' }],
    ['whose worker is dead, not reckoned yet', slice(undefined, dead), { stop }, { ...lost, atMs: dead.atMs }],
    ['none', undefined, none, stop],
    ['none, as an old reading sees it', undefined, first, { state: 'pending' }],
    ['to be tried again', slice(again), none, stop],
    ['to be tried again after the try under way', slice(again), second, stop],
    ['to be tried again, as an old reading sees it', slice(again, { try: 0 }), second, { state: 'pending' }],
    ['being tried, by the try under way', slice(undefined, living), second, { state: 'pending' }],
    ['being tried, by the one after it', slice(again, living), first, stop],
    ['being tried, claimed after the stop', slice(undefined, living), none, stop],
    ['lost with the try under way', slice(undefined, dead), second, { ...lost, atMs: dead.atMs }],
    ['lost with the one after it', slice(again, dead), first, stop],
    ['lost with a try that was claimed after the stop', slice(undefined, dead), none, stop],
    ['lost, as its finder wrote', slice(lost), second, { ...lost, atMs }],
    ['without an answer, in an earlier try', slice(noAnswer), none, { ...noAnswer, atMs }],
    ['sent', slice(sent), none, { ...sent, atMs }],
    ['ended by its worker', slice(cancelled), none, { ...cancelled, atMs }],
  ])('%s', (_, there, dispatch, expected) => {
    expect(outcomeOf(index, { slice: there, dispatch }, nowMs)).toEqual(expected);
  });

  test('under way are claims, not what is recorded, nor what is to be tried again', () => {
    const slices = [
      slice(undefined, { ...living, key: { ...key, slice: 0 }, try: 4 }),
      slice(undefined, { ...dead, key: { ...key, slice: 1 }, try: 2 }),
      slice(lost, { key: { ...key, slice: 2 }, try: 0 }),
      slice(again, { key: { ...key, slice: 3 } }),
      slice(noAnswer, { key: { ...key, slice: 4 } }),
      slice(sent, { key: { ...key, slice: 5 } }),
    ];
    const found = underWayIn({ slices: new Map(slices.map((each) => [each.key.slice, each])) });
    expect(found).toEqual({ '0': 4, '1': 2 });
  });
});

const dispatch = { head: { dispatchId: 'J' } };
const written = (there: Slice | undefined, proofs: WrittenMessages['proofs'] = new Map()): WrittenMessages => ({
  slices: new Map(there === undefined ? [] : [[there.key.slice, there]]),
  proofs,
  askedAtMs: nowMs,
});
const receipt = (status: string) => ({
  ...{ dispatchId: 'J', index, status, atMs: nowMs + 5, platformMessageId: 'w-7' },
  ...(status === 'failed' ? { code: '131049', reason: 'a cap' } : {}),
});
const statusesTold = ['a word of tomorrow', 'sent', 'delivered', 'read', 'failed'] as const;

describe('an outcome that a receipt settled is reported as if it had been left alone (D39)', () => {
  const before = [
    ['being tried', slice(undefined, living)],
    ['to be tried again', slice(again)],
    ['whose worker is dead', slice(undefined, dead)],
    ['lost', slice(lost)],
    ['without an answer', slice({ ...noAnswer, reason: 'the platform did not answer' })],
  ] as const;
  const cases = before.flatMap((each) => statusesTold.map((status) => [...each, status] as const));

  test.each(cases)('%s: %s', (_, unsettled, status) => {
    const proofs = new Map([[index, foldReceipts([receipt(status)])]]) as WrittenMessages['proofs'];
    for (const settlement of [provenByReceipt, { ...provenByReceipt, resolvedAtMs: nowMs + 9 }]) {
      const settled = outcomesOf(dispatch, written(slice(settlement), proofs))?.(index);
      expect(settled).toEqual(outcomesOf(dispatch, written(unsettled, proofs))?.(index));
      expect(settled?.code).not.toBe(provenByReceipt.code);
    }
  });
});

test('a receipt goes before the stop', () => {
  const proofs = new Map([[index, foldReceipts([receipt('delivered')])]]) as WrittenMessages['proofs'];
  expect(outcomesOf({ ...dispatch, ...none }, written(slice(undefined, dead), proofs))?.(index).state).toBe(
    'delivered',
  );
});

test('a dispatch that was taken back is none (D25)', () => {
  const taken = withdrawn({ key: { dispatchId: 'J', slice: 0 }, size: 3, atMs: nowMs });
  expect(outcomesOf(dispatch, written(taken))).toBeUndefined();
  expect(outcomesOf(dispatch, written(undefined))?.(2)).toEqual({ messageId: 'J-2', state: 'pending' });
});

test('every recipient is in exactly one count, whatever stands of it', () => {
  const known: fc.Arbitrary<Outcome | undefined> = fc.constantFrom(
    undefined,
    again,
    lost,
    noAnswer,
    sent,
    provenByReceipt,
  );
  const anySlice = fc.record({
    outcomes: fc.array(known, { minLength: 10, maxLength: 10 }),
    state: fc.constantFrom('claimed' as const, 'ended' as const),
    try: fc.nat(2),
    atMs: fc.constantFrom(living.atMs, dead.atMs),
  });
  const anyDispatch = fc.constantFrom<DispatchItemState>({}, { parked }, { stop }, none, first, second);
  fc.assert(
    fc.property(anySlice, anyDispatch, (changes, state) => {
      const outcomeAt = outcomesOf({ ...dispatch, ...state }, written(slice(undefined, changes)));
      const counts = countStates(Array.from({ length: 30 }, (_, at) => outcomeAt?.(at).state ?? 'pending'));
      expect(totalOf(counts)).toBe(30);
    }),
  );
});
