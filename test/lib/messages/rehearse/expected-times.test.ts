import { expect, test } from 'vitest';
import type { Lot, Opening } from '../../../../lib/messages/dispatch/lots.ts';
import { expectedTimes } from '../../../../lib/messages/rehearse/expected-times.ts';
import type { Timetable } from '../../../../lib/messages/when/timetable.ts';

/** Times are in milliseconds from now; the number takes one message each 10 ms (D56). */

/** Makes a timetable of lots in order, each of one zone. */
function tableOf(...counted: readonly (readonly [count: number, ...open: Opening[]])[]): Timetable {
  let until = 0;
  const lots: Lot[] = [];
  const zones = counted.map(([count, ...open], at) => {
    const members = Array.from({ length: count }, (_, index) => until + index);
    until += count;
    lots.push({ until, open });
    return { zones: [`Zone/${at}`], members, open, firstMs: open[0]?.[0] ?? 99_999 };
  });
  return { fromMs: 0, lastCallMs: 100_000, lots, zones, order: Array.from({ length: until }, (_, index) => index) };
}
const lasts = (table: Timetable, delayMs = 0) =>
  expectedTimes(table, { nowMs: 0, delayMs, everyMs: 10 }).map(({ firstMs, lastMs }) => [firstMs, lastMs]);

test.each<[string, Timetable, number, (number | undefined)[][]]>([
  ['leaves from its first moment on', tableOf([100, [500, 9_000]]), 0, [[500, 1_490]]],
  ['waits for those before it', tableOf([100, [0, 9_000]]), 300, [[0, 1_290]]],
  ['and not for those that have gone by then', tableOf([1, [500, 9_000]]), 300, [[500, 500]]],
  ['goes on when it opens again', tableOf([100, [0, 400], [5_000, 9_000]]), 0, [[0, 5_590]]],
  [
    'takes what the lot before leaves',
    tableOf([100, [0, 400], [5_000, 9_000]], [50, [200, 9_000]]),
    0,
    [
      [0, 5_590],
      [200, 890],
    ],
  ],
  ['ends with its openings where they are too short', tableOf([100, [0, 400]]), 0, [[0, 400]]],
  [
    'has no moment where it never opens',
    tableOf([1, [0, 400]], [3]),
    0,
    [
      [0, 0],
      [undefined, undefined],
    ],
  ],
])('a lot %s', (_, table, delayMs, expected) => {
  expect(lasts(table, delayMs)).toEqual(expected);
});

test('zones of one lot share its last moment, in the order of their first', () => {
  const { zones, ...rest } = tableOf([2, [0, 400]], [2, [100, 400]]);
  const [first, second] = zones;
  if (first === undefined || second === undefined) throw new Error('two zones');
  const split = [second, { ...first, members: [0] }, { ...first, zones: ['Zone/9'], members: [1] }];
  expect(expectedTimes({ ...rest, zones: split }, { nowMs: 0, delayMs: 0, everyMs: 10 })).toEqual([
    { zones: ['Zone/0'], recipients: 1, firstMs: 0, lastMs: 10 },
    { zones: ['Zone/9'], recipients: 1, firstMs: 0, lastMs: 10 },
    { zones: ['Zone/1'], recipients: 2, firstMs: 100, lastMs: 110 },
  ]);
});
