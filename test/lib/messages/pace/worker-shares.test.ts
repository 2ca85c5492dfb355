import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fairShares, workerShare } from '../../../../lib/messages/pace/worker-shares.ts';

const demands = fc.array(fc.double({ min: 0, max: 2_000, noNaN: true }), { minLength: 1, maxLength: 100 });
const near = 1e-6;

test.each([
  [100, [10], [10]],
  [100, [1_000], [100]],
  [100, [1_000, 1_000], [50, 50]],
  [100, [1_000, 10, 1_000], [45, 10, 45]],
  [100, [0, 30, 30], [0, 30, 30]],
  [0, [5, 5], [0, 0]],
  [100, [], []],
])('%i a second for %j is %j', (capacity, wanted, shares) => {
  expect(fairShares(capacity, wanted)).toEqual(shares);
});

test('nobody gets more than it wants, nothing is left while somebody wants more, and who wants more has as much as anybody', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 10_000, noNaN: true }), demands, (capacity, wanted) => {
      const shares = fairShares(capacity, wanted);
      const sum = shares.reduce((total, share) => total + share, 0);
      const wanting = wanted.flatMap((demand, at) => ((shares[at] ?? 0) < demand - near ? [shares[at] ?? 0] : []));
      expect(shares.filter((share, at) => share > (wanted[at] ?? 0) + near || share < 0)).toEqual([]);
      expect(sum).toBeLessThanOrEqual(capacity + near);
      if (wanting.length > 0) {
        expect(sum).toBeGreaterThan(capacity - near);
        expect(Math.min(...wanting)).toBeGreaterThan(Math.max(...shares) - near);
      }
    }),
  );
});

test('clients share first, then the numbers of a client (D45)', () => {
  const until = { untilMs: 1 };
  const all = [
    { clientId: 1, phoneNumberId: 'a', perSecond: 80, ...until },
    { clientId: 1, phoneNumberId: 'b', perSecond: 80, ...until },
    { clientId: 2, phoneNumberId: 'c', perSecond: 80, ...until },
    { clientId: 3, phoneNumberId: 'c', perSecond: 10, ...until },
  ];
  const shareOf = (clientId: number, phoneNumberId: string) => workerShare(110, all, { clientId, phoneNumberId });
  expect([shareOf(1, 'a'), shareOf(1, 'b'), shareOf(2, 'c'), shareOf(3, 'c')]).toEqual([25, 25, 50, 10]);
  expect(workerShare(1_000, all, { clientId: 1, phoneNumberId: 'a' })).toBe(80);
  expect(workerShare(110, all, { clientId: 4, phoneNumberId: 'a' })).toBe(0);
});
