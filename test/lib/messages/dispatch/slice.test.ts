import { describe, expect, test } from 'vitest';
import {
  claimed,
  dueMsOf,
  ended,
  endedForTheDead,
  folded,
  isResolved,
  isWithdrawn,
  mayClaim,
  type Outcome,
  openPlaces,
  provenByReceipt,
  type Recorded,
  type Slice,
  settled,
  sliceOf,
  takenOf,
  withdrawn,
} from '../../../../lib/messages/dispatch/slice.ts';

const key = { dispatchId: '01JD0000000000000000000000', slice: 3 };
const sent: Outcome = { state: 'sent', platformMessageId: 'wamid.1' };
const again = (dueMs: number): Outcome => ({ state: 'again', dueMs });
const unknown: Outcome = { state: 'unknown', code: 'no_answer' };
const claimOf = (tried: number, owner = 'run-1') => ({ key, try: tried, owner, atMs: 1_000, size: 3 });
const first = claimed(undefined, claimOf(0));

test('ten consecutive recipients are a slice', () => {
  expect([0, 9, 10, 9_999].map((index) => sliceOf({ dispatchId: 'J', index }).slice)).toEqual([0, 0, 1, 999]);
});

test('a try is claimed once, and the next one when it has ended', () => {
  const over = ended(first, new Map([[0, again(5)]]));
  expect([0, 1, 2].map((tried) => mayClaim(undefined, { try: tried }))).toEqual([true, false, false]);
  expect([0, 1, 2].map((tried) => mayClaim(first, { try: tried }))).toEqual([false, false, false]);
  expect([0, 1, 2].map((tried) => mayClaim(over, { try: tried }))).toEqual([false, true, false]);
});

describe('an ended try', () => {
  const over = ended(first, new Map([[0, sent], [1, again(7)], [2, again(5)]])); // biome-ignore format: one row

  test('is due when the first of its recipients is, and covers them', () => {
    expect(openPlaces(over)).toEqual([1, 2]);
    expect(dueMsOf(over)).toBe(5);
    expect(dueMsOf(ended(first, new Map([[0, sent], [1, sent], [2, sent]])))).toBeUndefined(); // biome-ignore format: one row
  });

  test('keeps what the tries before have settled, whatever the next one says of it', () => {
    const second = ended(claimed(over, claimOf(1)), new Map<number, Outcome>([[0, unknown], [1, sent]])); // biome-ignore format: one row
    expect(second).toMatchObject({ try: 1, state: 'ended', outcomes: [sent, sent, again(5)] });
  });

  test('has no recipient left open', () => {
    expect(ended(first, new Map([[1, sent]])).outcomes).toMatchObject([
      { state: 'unknown', code: 'worker_lost' },
      sent,
      { state: 'unknown' },
    ]);
  });
});

test('recipients that a dead claimant may have called are unknown, unless their end is known; outcomes of earlier tries stay', () => {
  const second = claimed(ended(first, new Map([[0, sent], [1, again(7)], [2, again(5)]])), claimOf(1)); // biome-ignore format: one row
  const lost = { state: 'unknown', code: 'worker_lost' };
  expect(endedForTheDead(second, 'run-9')).toMatchObject({ owner: 'run-9', try: 1, outcomes: [sent, lost, lost] });
  const stopped: Outcome = { state: 'failed', code: 'cancelled' };
  expect(endedForTheDead(second, 'run-9', stopped)).toMatchObject({ outcomes: [sent, stopped, stopped] });
});

test('a slice that its acceptance has taken back says so of every recipient', () => {
  const slice = withdrawn({ key, size: 2, atMs: 1_000 });
  const failed = { state: 'failed', code: 'withdrawal' };
  expect(slice).toMatchObject({ try: 0, state: 'ended', outcomes: [failed, failed] });
  expect([isWithdrawn(slice), isWithdrawn(first)]).toEqual([true, false]);
});

test('a late end makes unknown sent, never the reverse, once; what others have settled stays', () => {
  const third = claimed(ended(claimed(undefined, { ...claimOf(0), size: 4 }), new Map()), claimOf(0));
  const over = { ...third, state: 'ended', outcomes: [unknown, sent, unknown, again(5)] } as const;
  const refused: Outcome = { state: 'failed', code: '131026' };
  const taken = takenOf(new Map<number, Outcome>([[0, sent], [1, refused], [2, refused], [3, sent], [4, unknown]])); // biome-ignore format: one row
  expect([...taken.keys()]).toEqual([0, 3]);
  const late = settled(over, taken, over.atMs);
  expect(late).toEqual({
    ...over,
    version: over.version + 1,
    outcomes: [{ ...sent, resolvedAtMs: over.atMs }, sent, unknown, again(5)],
  });
  expect(late && settled(late, taken, over.atMs)).toBeUndefined();
  expect(settled(over, takenOf(new Map([[0, refused]])), over.atMs)).toBeUndefined();
});

test('receipts fold into unknown outcomes alone, and change nothing that is stored', () => {
  const over = ended(first, new Map<number, Outcome>([[0, unknown], [1, unknown], [2, sent]])); // biome-ignore format: one row
  expect(folded(over, new Set([0, 2]))).toEqual({ ...over, outcomes: [provenByReceipt, unknown, sent] });
});

test('resolved is what a late end has made sent, and no word of an operator', () => {
  const resolvedAtMs = 1;
  const byHand = { state: 'sent', code: 'resolved_by_operator', resolvedAtMs } as const;
  const all: Recorded[] = [{ ...sent, resolvedAtMs }, sent, byHand, { ...unknown, resolvedAtMs }, provenByReceipt];
  expect(all.map(isResolved)).toEqual([true, false, false, false, false]);
});

test('every write has a version of its own', () => {
  const over = ended(first, new Map([[0, unknown]])); // biome-ignore format: one row
  const later = settled(over, new Map([[0, provenByReceipt]]), 9_000);
  const second = claimed(over, claimOf(1));
  expect([first, over, later, second].map((slice) => slice?.version)).toEqual([1, 2, 3, 3]);
});

test('only what is unknown is settled, once', () => {
  const over: Slice = ended(first, new Map([[0, unknown], [1, sent], [2, again(5)]])); // biome-ignore format: one row
  const all = new Map([0, 1, 2].map((place) => [place, provenByReceipt] as const));
  const now = settled(over, all, 9_000);
  expect(now?.outcomes).toEqual([{ ...provenByReceipt, resolvedAtMs: 9_000 }, sent, again(5)]);
  expect(now && settled(now, all, 9_500)).toBeUndefined();
});
