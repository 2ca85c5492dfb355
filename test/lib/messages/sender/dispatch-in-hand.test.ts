import { describe, expect, test } from 'vitest';
import { claimed, ended, type Outcome, type Slice } from '../../../../lib/messages/dispatch/slice.ts';
import type { DispatchInHand } from '../../../../lib/messages/sender/dispatch-in-hand.ts';
import type { OpenSlice } from '../../../../lib/messages/sender/open-slice.ts';
import { SliceRunWorld, startMs } from './slice-run-world.ts';

/** What a sender knows of the slices of a dispatch, and what it leaves to the next run. */

const sent: Outcome = { state: 'sent', platformMessageId: 'p' };
const again = (dueMs: number): Outcome => ({ state: 'again', dueMs });
const told = { isTold: true, nowMs: startMs };

async function handOf(size: number, stored: readonly Slice[] = []): Promise<DispatchInHand> {
  const world = new SliceRunWorld();
  world.accept(size);
  world.table.put(...stored);
  return await world.handOf('J');
}

function sliceOf(slice: number, outcomes: readonly Outcome[], atMs = startMs): Slice {
  const own = claimed(undefined, { key: { dispatchId: 'J', slice }, try: 0, owner: 'o', atMs, size: outcomes.length });
  return ended(own, new Map(outcomes.entries()));
}

function taken(hand: DispatchInHand, nowMs = startMs): OpenSlice {
  const open = hand.take(nowMs);
  if (open === undefined) throw new Error('nothing is due');
  return open;
}

describe('its floor', () => {
  test('is the first slice that has not ended, or is not told, in whatever order they end', async () => {
    const hand = await handOf(30);
    const [first, second, third] = [taken(hand), taken(hand), taken(hand)];
    const end = (open: OpenSlice, isTold = true) => {
      const recorded = { kind: 'ended', slice: sliceOf(open.slice, Array(10).fill(sent)) } as const;
      hand.ended(open, recorded, { isTold, nowMs: startMs });
      return hand.progress(startMs).floor;
    };
    expect([hand.progress(startMs).floor, end(second), end(first, false), end(third)]).toEqual([0, 0, 0, 0]);
    expect(hand.isOver).toBe(false);
    expect([end(taken(hand, startMs + 2_000)), hand.isOver]).toEqual([3, true]);
  });

  test('leaves the slices of an earlier run open from its last try on: they may not be told', async () => {
    const hand = await handOf(20, [sliceOf(0, Array(10).fill(sent))]);
    expect([hand.progress(startMs).floor, hand.isOver]).toEqual([0, false]);
    expect(taken(hand)).toEqual({ slice: 0, try: 0, dueMs: 0 });
  });
});

describe('when a slice is due', () => {
  test('a slice in work is nobody else’s; it is due for whichever run is next', async () => {
    const hand = await handOf(10);
    const open = taken(hand);
    expect([hand.take(startMs), hand.isBusy, hand.idle]).toEqual([undefined, true, []]);
    expect(hand.progress(startMs).dueMs).toBe(startMs);
    hand.giveBack(open);
    expect([hand.isBusy, taken(hand)]).toEqual([false, open]);
  });

  test('what is to be tried again is due then, for those alone', async () => {
    const hand = await handOf(10);
    const outcomes = [sent, again(startMs + 7_000), ...Array(8).fill(sent), again(startMs + 9_000)].slice(0, 10);
    hand.ended(taken(hand), { kind: 'ended', slice: sliceOf(0, outcomes) }, told);
    expect([hand.nextDueMs(startMs), hand.progress(startMs)]).toEqual([
      startMs + 7_000,
      { floor: 0, dueMs: startMs + 7_000 },
    ]);
    expect(hand.take(startMs + 6_999)).toBeUndefined();
    const next = taken(hand, startMs + 7_000);
    expect([next.try, next.places, hand.indexesOf(next)]).toEqual([1, [1], [1]]);
  });

  test('what another run holds is looked at after 2 s, then ever later, and no later than its claim is dead', async () => {
    const hand = await handOf(10);
    const waits: number[] = [];
    let nowMs = startMs;
    for (let times = 0; times < 6; times += 1) {
      hand.ended(taken(hand, nowMs), { kind: 'later', atMs: startMs + 150_000 }, { isTold: false, nowMs });
      waits.push(hand.nextDueMs(nowMs) - nowMs);
      nowMs = hand.nextDueMs(nowMs);
    }
    expect(waits).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    hand.ended(taken(hand, nowMs), { kind: 'later', atMs: nowMs + 5 }, { isTold: false, nowMs });
    expect(hand.nextDueMs(nowMs)).toBe(nowMs + 5);
  });

  test('what another run has gone on with has its next try now; what is stopped is over', async () => {
    const hand = await handOf(20);
    hand.ended(taken(hand), { kind: 'over' }, told);
    expect(taken(hand)).toEqual({ slice: 0, try: 1, dueMs: startMs });
    hand.over([0, 1]);
    expect([hand.isOver, hand.nextDueMs(startMs)]).toEqual([true, Number.POSITIVE_INFINITY]);
  });

  test('of an earlier run: when its next try is; now where that is far, as it may not be told', async () => {
    const near = await handOf(10, [sliceOf(0, [again(startMs + 900_000), ...Array(9).fill(sent)])]);
    const far = await handOf(10, [sliceOf(0, [again(startMs + 900_001), ...Array(9).fill(sent)])]);
    expect([near.nextDueMs(startMs), far.nextDueMs(startMs)]).toEqual([startMs + 900_000, 0]);
  });
});

describe('its recipients', () => {
  const page = 25;
  /** A read returns `page` recipients, and fails as often as that is said. */
  const readsOf = (failures = 0) => {
    const reads: number[] = [];
    const recipientsFrom = async (_id: string, first: number) => {
      reads.push(first);
      if (reads.length <= failures) throw new Error('the store is away');
      return Array.from({ length: page }, (_, at) => ({ to: String(first + at) }));
    };
    return { reads, ports: { dispatches: { recipientsFrom } } as never };
  };

  test('are read a page at a time, by one of the slices that begin together', async () => {
    const hand = await handOf(60);
    const { reads, ports } = readsOf();
    const asked = [0, 10, 20, 30, 40, 59].map((index) => hand.recipient(index, ports));
    expect((await Promise.all(asked)).map(({ to }) => to)).toEqual(['0', '10', '20', '30', '40', '59']);
    expect(reads).toEqual([0, 30, 59]);
  });

  test('are read again by the next slice where a read failed', async () => {
    const hand = await handOf(60);
    const { reads, ports } = readsOf(1);
    const ends = await Promise.allSettled([0, 10, 20].map((index) => hand.recipient(index, ports)));
    expect([ends.map(({ status }) => status), reads]).toEqual([
      ['rejected', 'fulfilled', 'fulfilled'],
      [0, 10],
    ]);
  });
});
