import { expect, test } from 'vitest';
import { coalescedReads } from '../../../../lib/messages/receipts/coalesced-reads.ts';

/** The test ends each read itself. */
function world() {
  const reads: { readonly partition: string; readonly answer: PromiseWithResolvers<number> }[] = [];
  const ask = coalescedReads((partition) => {
    const answer = Promise.withResolvers<number>();
    reads.push({ partition, answer });
    return answer.promise;
  });
  return { reads, ask, begun: () => reads.map(({ partition }) => partition) };
}

/** Lets all ready work finish. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a run that asks while a read is under way waits for the next, and shares it with others that wait', async () => {
  const { reads, ask, begun } = world();
  const early = [ask('A'), ask('A'), ask('B')];
  await settled();
  expect(begun()).toEqual(['A', 'B']);
  const late = [ask('A'), ask('A')];
  await settled();
  expect(begun()).toEqual(['A', 'B']);
  for (const [at, { answer }] of reads.entries()) answer.resolve(at);
  expect(await Promise.all(early)).toEqual([0, 0, 1]);
  await settled();
  const latest = ask('A');
  await settled();
  expect(begun()).toEqual(['A', 'B', 'A']);
  reads[2]?.answer.resolve(2);
  await settled();
  reads[3]?.answer.resolve(3);
  expect(await Promise.all([...late, latest])).toEqual([2, 2, 3]);
});

test('a read that fails fails for those who share it, and for no other', async () => {
  const { reads, ask } = world();
  const early = [ask('A'), ask('A')];
  await settled();
  const late = ask('A');
  reads[0]?.answer.reject(new Error('unavailable'));
  await expect(Promise.all(early)).rejects.toThrow('unavailable');
  await settled();
  reads[1]?.answer.resolve(1);
  expect(await late).toBe(1);
});
