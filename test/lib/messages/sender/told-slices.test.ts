import { expect, test } from 'vitest';
import { isToldIn, toldAbove } from '../../../../lib/messages/sender/told-slices.ts';

/** What is told above a floor that a waiting slice keeps low is not told again (D34, D56). */

test('what is told above the floor is told by the stretch, of a part with every third slice', () => {
  const own = [3, 6, 9, 12, 15, 18];
  const open = new Set([9, 18]);
  const told = toldAbove(own, (slice) => !open.has(slice));
  expect(told).toEqual([
    [3, 6],
    [12, 15],
  ]);
  expect(own.filter((slice) => isToldIn(told, slice))).toEqual([3, 6, 12, 15]);
  expect(isToldIn(undefined, 3)).toBe(false);
});

test('nothing is told above: no stretch; of very many the lowest are named', () => {
  expect(toldAbove([1, 2], () => false)).toBeUndefined();
  const even = Array.from({ length: 1_000 }, (_, slice) => slice);
  expect(toldAbove(even, (slice) => slice % 2 === 0)).toEqual(Array.from({ length: 50 }, (_, at) => [2 * at, 2 * at]));
});
