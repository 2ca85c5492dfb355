import { expect, test } from 'vitest';
import {
  claimed,
  ended,
  lost,
  type Outcome,
  type Slice,
  type SliceClaim,
} from '../../../../../lib/messages/dispatch/slice.ts';
import { type Chunk, type ChunkPorts, runChunk } from '../../../../../lib/messages/send/claims/run-chunk.ts';

const dispatchId = '01JD0000000000000000000000';
const nowMs = 1_800_000_000_000;
const sent: Outcome = { state: 'sent', platformMessageId: 'wamid.1' };
const failed: Outcome = { state: 'failed', code: '131026' };
const again = (dueMs: number): Outcome => ({ state: 'again', dueMs });

const sliceFrom = (first: number, size: number) => ({
  try: 0,
  size,
  recipients: Array.from({ length: size }, (_, place) => ({ index: first + place, to: '' })),
});
const slices = [sliceFrom(20, 2), sliceFrom(30, 2)];
const chunk: Chunk = { dispatchId, slices };

/** All claims and ends succeed; `most` is the largest number of claimed slices at once. */
function slicesNoting(claims: SliceClaim[], most: { claimed: number }): ChunkPorts['slices'] {
  const claiming = new Set<number>();
  return {
    claim: async (claim) => {
      claims.push(claim);
      claiming.add(claim.key.slice);
      most.claimed = Math.max(most.claimed, claiming.size);
      return { kind: 'claimed', slice: claimed(undefined, claim) };
    },
    end: async (own, given) => {
      claiming.delete(own.key.slice);
      return ended(own, given);
    },
    endUncalled: async () => undefined,
    endForTheDead: async () => undefined,
    endLate: async () => undefined,
  };
}

/** The run's calls end as `outcomes` says by index; it records events and queue messages. */
function world(outcomes: Readonly<Record<number, Outcome>> = {}, changes: Partial<ChunkPorts> = {}) {
  const done: unknown[][] = [];
  const claims: SliceClaim[] = [];
  const most = { claimed: 0 };
  const ports: ChunkPorts = {
    slices: slicesNoting(claims, most),
    look: async () => ({ heldBack: async () => undefined, proven: new Set(), barred: new Map(), ofDead: lost }),
    markUnknown: async () => undefined,
    proven: async () => new Set(),
    call: async ({ index }) => outcomes[index] ?? sent,
    nowMs: () => nowMs,
    mayRepeat: async () => false,
    claimLifeMs: 90_000,
    retryMs: () => nowMs,
    emit: async (endings) =>
      void done.push(['emit', endings.map(({ recipient, outcome }) => [recipient.index, outcome])]),
    queueAgain: async (left, atMs) => void done.push(['queueAgain', left, atMs]),
    ...changes,
  };
  return { ports, done, claims, most, run: (given = chunk) => runChunk(given, 'run-1', ports) };
}

test('each slice is claimed as one, by its place in the dispatch, and every ending is told', async () => {
  const { run, done, claims } = world({ 31: failed });
  expect(await run()).toEqual({ kind: 'acknowledged' });
  const own = { owner: 'run-1', atMs: nowMs, size: 2, try: 0 };
  expect(claims).toEqual([2, 3].map((slice) => ({ ...own, key: { dispatchId, slice } })));
  expect(done).toEqual([['emit', [[20, sent], [21, sent], [30, sent], [31, failed]]]]); // biome-ignore format: one row
});

test('what is to be tried again is told of no more, and queued once, for the first of its times', async () => {
  const { run, done } = world({ 20: again(nowMs + 9), 21: again(nowMs + 7), 30: again(nowMs + 8) });
  expect(await run()).toEqual({ kind: 'acknowledged' });
  const [first, second] = [
    {
      try: 1,
      size: 2,
      recipients: [
        { index: 20, to: '', notBeforeMs: nowMs + 9 },
        { index: 21, to: '', notBeforeMs: nowMs + 7 },
      ],
    },
    { try: 1, size: 2, recipients: [{ index: 30, to: '', notBeforeMs: nowMs + 8 }] },
  ];
  expect(done).toEqual([
    ['emit', [[31, sent]]],
    ['queueAgain', [first, second], nowMs + 7],
  ]);
});

test('with nothing to tell, nothing is told', async () => {
  const { run, done } = world({ 20: again(1), 21: again(1), 30: again(1), 31: again(1) });
  await run();
  expect(done.map(([name]) => name)).toEqual(['queueAgain']);
});

test.each(['emit', 'queueAgain'] as const)(
  'when %s fails the chunk comes again, and nothing after it is done',
  async (name) => {
    const unreachable = async () => {
      throw new Error('the queue is not there');
    };
    const { run, done } = world({ 20: again(1) }, { [name]: unreachable });
    expect(await run()).toEqual({ kind: 'again', slices });
    expect(done.map(([each]) => each)).toEqual(name === 'emit' ? [] : ['emit']);
  },
);

test('a slice that another has claimed makes the chunk come again: when the first of them is dead, where that is known', async () => {
  const living = (claim: SliceClaim, atMs: number): Slice => claimed(undefined, { ...claim, owner: 'run-2', atMs });
  const meeting = (ages: Readonly<Record<number, number>>) => {
    const { ports } = world();
    const claim = async (asked: SliceClaim) => {
      const age = ages[asked.key.slice];
      return age === undefined
        ? await ports.slices.claim(asked)
        : ({ kind: 'met', slice: living(asked, nowMs - age) } as const);
    };
    return world({}, { slices: { ...ports.slices, claim } });
  };
  expect(await meeting({ 2: 10, 3: 30 }).run()).toEqual({ kind: 'again', slices, atMs: nowMs + 90_000 - 30 });
  const one = meeting({ 3: 30 });
  expect(await one.run()).toEqual({ kind: 'again', slices: slices.slice(1), atMs: nowMs + 90_000 - 30 });
  expect(one.done).toEqual([['emit', [[20, sent], [21, sent]]]]); // biome-ignore format: one row
  const { ports } = one;
  const end = async (own: Slice) => (own.key.slice === 2 ? undefined : ended(own, new Map()));
  expect(await world({}, { slices: { ...ports.slices, end } }).run()).toEqual({
    kind: 'again',
    slices,
  });
});

test('what goes wrong with one slice keeps no other from being worked off', async () => {
  const { ports } = world();
  const end = async (own: Slice, given: Parameters<typeof ended>[1]) => {
    if (own.key.slice === 2) throw new Error('the store is not there');
    return ended(own, given);
  };
  const { run, done } = world({}, { slices: { ...ports.slices, end } });
  expect(await run()).toEqual({ kind: 'again', slices: slices.slice(0, 1) });
  expect(done).toEqual([['emit', [[30, sent], [31, sent]]]]); // biome-ignore format: one row
});

test('at most three slices are claimed and not ended, and all are worked off', async () => {
  const { run, most, claims } = world();
  await run({ dispatchId, slices: [0, 10, 20, 30, 40].map((first) => sliceFrom(first, 2)) });
  expect(claims).toHaveLength(5);
  expect(most.claimed).toBe(3);
});
