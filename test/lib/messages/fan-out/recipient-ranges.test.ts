import { describe, expect, test } from 'vitest';
import type { Lot, Opening } from '../../../../lib/messages/dispatch/lots.ts';
import {
  advanced,
  lotsBetween,
  opensNextMs,
  type RecipientRange,
  rangeState,
  rangesOf,
  restsOf,
  withoutEnded,
} from '../../../../lib/messages/fan-out/recipient-ranges.ts';

/** A scheduled dispatch releases the recipients of a range together (D56). */

const open: readonly Opening[] = [[100_000, 200_000]];
const later: readonly Opening[] = [[300_000, 400_000]];
const dispatchOf = (total: number, ...untils: number[]) => {
  return { head: { total }, lots: untils.map((until): Lot => ({ until, open })) };
};
const spans = (stretches: readonly RecipientRange[]) =>
  stretches.map(({ from, until, lots }) => [from, until, lots?.length]);

describe('the stretches of a dispatch', () => {
  test.each([
    ['without lots are one', { head: { total: 25 } }, [[0, 25, undefined]]],
    ['of one lot are one', dispatchOf(25, 25), [[0, 25, 1]]],
    [
      'of lots that end with a slice are the lots',
      dispatchOf(40, 20, 40),
      [
        [0, 20, 1],
        [20, 40, 1],
      ],
    ],
    [
      'have the slice in which two lots meet for themselves',
      dispatchOf(40, 13, 40),
      [
        [0, 10, 1],
        [10, 20, 2],
        [20, 40, 1],
      ],
    ],
    [
      'have one in which many meet once',
      dispatchOf(35, 3, 5, 8, 12, 35),
      [
        [0, 10, 4],
        [10, 20, 2],
        [20, 35, 1],
      ],
    ],
    [
      'end with the dispatch',
      dispatchOf(16, 13, 16),
      [
        [0, 10, 1],
        [10, 16, 2],
      ],
    ],
  ])('%s', (_, dispatch, expected) => {
    expect(spans(rangesOf(dispatch))).toEqual(expected);
  });

  test('cover each recipient once, whatever the lots are', () => {
    for (let total = 1; total <= 34; total += 1) {
      for (let one = 1; one < total; one += 1) {
        for (let other = one + 1; other <= total; other += 1) {
          const untils = other === total ? [one, total] : [one, other, total];
          const stretches = rangesOf(dispatchOf(total, ...untils));
          let next = 0;
          for (const { from, until } of stretches) {
            expect([from, from % 10, until > from]).toEqual([next, 0, true]);
            next = until;
          }
          expect(next).toBe(total);
        }
      }
    }
  });
});

test('progress counts each stretch, and their sum', () => {
  const stretches = rangesOf(dispatchOf(40, 20, 40));
  const [first, second] = restsOf(stretches, { queued: 0 });
  if (first === undefined || second === undefined) throw new Error('no stretches');
  const half = advanced(stretches, { queued: 0 }, { ...second, until: 30 });
  expect(half).toEqual({ queued: 10, ofStretches: [0, 10] });
  expect(restsOf(stretches, half).map(({ from, until, at }) => [from, until, at])).toEqual([
    [0, 20, 0],
    [30, 40, 1],
  ]);
  expect(advanced(stretches, half, first)).toEqual({ queued: 30, ofStretches: [20, 10] });
});

test('a dispatch without lots has the progress that it always had', () => {
  const stretches = rangesOf({ head: { total: 40 } });
  const [rest] = restsOf(stretches, { queued: 10 });
  expect(rest && advanced(stretches, { queued: 10 }, { ...rest, until: 30 })).toEqual({ queued: 30 });
});

describe('a stretch', () => {
  const withoutEnd = { kind: 'open', untilMs: Number.POSITIVE_INFINITY, lengthMs: Number.POSITIVE_INFINITY };
  const standing = (lots: RecipientRange['lots'], nowMs: number, expiresAtMs?: number) =>
    rangeState({ from: 0, until: 10, lots }, nowMs, expiresAtMs);

  test.each([
    ['without lots is always open', undefined, 0, withoutEnd],
    ['is closed before its opening', [open], 99_999, { kind: 'closed', opensAtMs: 100_000 }],
    [
      'is open from its first millisecond on, but for the last five seconds',
      [open],
      100_000,
      { kind: 'open', untilMs: 195_000, lengthMs: 95_000 },
    ],
    ['is over in its last five seconds', [open], 195_000, { kind: 'over' }],
    ['of two lots is open with either', [open, later], 150_000, { kind: 'open', untilMs: 195_000, lengthMs: 95_000 }],
    ['of two lots opens with the first', [later, open], 50_000, { kind: 'closed', opensAtMs: 100_000 }],
    ['of which one lot is over waits for the other', [open, later], 250_000, { kind: 'closed', opensAtMs: 300_000 }],
    ['is over when all its lots are', [open, later], 395_000, { kind: 'over' }],
    ['that never opens is over', [[]], 0, { kind: 'over' }],
  ] as const)('%s', (_, lots, nowMs, expected) => {
    expect(standing(lots, nowMs)).toEqual(expected);
  });

  test('that opens only after its time to live is over', () => {
    expect(standing([later], 0, 300_000)).toEqual({ kind: 'over' });
    expect(standing([later], 0, 300_001)).toEqual({ kind: 'closed', opensAtMs: 300_000 });
    expect(standing([open], 150_000, 160_000)).toEqual({ kind: 'open', untilMs: 160_000, lengthMs: 60_000 });
    expect(standing([open], 160_000, 160_000)).toEqual({ kind: 'over' });
  });

  test('goes on with its next opening, or ends when the last one is over', () => {
    const twice = { from: 0, until: 10, lots: [[...open, ...later]] };
    expect([50_000, 150_000, 350_000, 396_000].map((nowMs) => opensNextMs(twice, nowMs))).toEqual([
      100_000,
      300_000,
      395_000,
      undefined,
    ]);
  });
});

test('a chunk carries the lots of its recipients, with the openings that have not ended', () => {
  const lots = [
    { until: 5, open },
    { until: 15, open: [...open, ...later] },
    { until: 40, open: later },
  ];
  expect(lotsBetween(lots, 0, 4)).toEqual(lots.slice(0, 1));
  expect(lotsBetween(lots, 5, 15)).toEqual(lots.slice(1));
  expect(withoutEnded(lots, 200_000)).toEqual([
    { until: 5, open: [] },
    { until: 15, open: later },
    { until: 40, open: later },
  ]);
});
