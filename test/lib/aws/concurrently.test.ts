import { expect, test } from 'vitest';
import { forEachConcurrently } from '../../../lib/aws/concurrently.ts';

/** Records the calls in order; a test ends each call itself. */
function asked() {
  const begun: number[] = [];
  const ends = new Map<number, PromiseWithResolvers<void>>();
  const act = (one: number) => {
    begun.push(one);
    const end = Promise.withResolvers<void>();
    ends.set(one, end);
    return end.promise;
  };
  return {
    begun,
    act,
    end: (one: number) => ends.get(one)?.resolve(),
    fail: (one: number) => ends.get(one)?.reject(one),
  };
}

const moment = () => new Promise((resolve) => setImmediate(resolve));

test('so much at once, the next one as soon as one has ended', async () => {
  const { begun, act, end } = asked();
  const all = forEachConcurrently([0, 1, 2, 3], 2, act);
  expect(begun).toEqual([0, 1]);
  end(1);
  await moment();
  expect(begun).toEqual([0, 1, 2]);
  for (const one of [2, 0]) end(one);
  await moment();
  end(3);
  await expect(all).resolves.toBeUndefined();
  expect(begun).toEqual([0, 1, 2, 3]);
});

function* madeOneByOne() {
  for (let one = 0; one < 4; one += 1) yield one;
}

test.each<[string, () => Iterable<number>]>([
  ['a list', () => [0, 1, 2, 3]],
  ['what is made when it is asked for', madeOneByOne],
])('of %s no other begins where one fails, and it throws when those under way have ended', async (_, all) => {
  const { begun, act, end, fail } = asked();
  const isOver = { failed: false };
  const work = forEachConcurrently(all(), 2, act).catch((error: unknown) => {
    isOver.failed = true;
    return error;
  });
  fail(0);
  await moment();
  expect(isOver.failed).toBe(false);
  end(1);
  expect(await work).toBe(0);
  expect(begun).toEqual([0, 1]);
});
