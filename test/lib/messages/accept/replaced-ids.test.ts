import fc from 'fast-check';
import { expect, test } from 'vitest';
import { redirectedWarning, withCurrentIds } from '../../../../lib/messages/accept/replaced-ids.ts';
import type { Replacement } from '../../../../lib/messages/inbound/replaced-ids.ts';
import { rows } from '../../../support/rows.ts';

type Words = readonly (readonly [userId: string, by: string, atMs: number])[];

/**
 * Keeps the latest word for each id, and the first of two words of one time, as the store does
 * (replaced-ids-store.adapter.test.ts).
 */
function stored(words: Words): Map<string, Replacement> {
  const known = new Map<string, Replacement>();
  for (const [userId, by, atMs] of words) {
    if (atMs > (known.get(userId)?.atMs ?? Number.NEGATIVE_INFINITY)) known.set(userId, { by, atMs });
  }
  return known;
}

async function follow(recipients: readonly string[], words: Words) {
  const known = stored(words);
  const asked: string[][] = [];
  const followed = await withCurrentIds(
    recipients.map((to) => ({ to, params: { body: [to] } })),
    '11',
    async (_, userIds) => {
      asked.push([...userIds]);
      return new Map([...known].filter(([userId]) => userIds.includes(userId)));
    },
  );
  // A redirected person gets the parameters that were given for the old id.
  expect(followed.recipients.map(({ params }) => params?.body)).toEqual(recipients.map((to) => [to]));
  return { ...followed, to: followed.recipients.map((recipient) => recipient.to), asked };
}

test.each(rows`
  nothing told                                   |                                  | US.1
  told once                                      | US.1 > US.2 @ 5                  | US.2
  told twice                                     | US.1 > US.2 @ 5, US.1 > US.2 @ 5 | US.2
  a chain                                        | US.1 > US.2 @ 5, US.2 > US.3 @ 6 | US.3
  a chain that was told the wrong way round      | US.2 > US.3 @ 6, US.1 > US.2 @ 5 | US.3
  two words on one id: the later one             | US.1 > US.2 @ 5, US.1 > US.3 @ 6 | US.3
  two words on one id, the later one first       | US.1 > US.3 @ 6, US.1 > US.2 @ 5 | US.3
  back to where it was                           | US.1 > US.2 @ 5, US.2 > US.1 @ 6 | US.1
  there, back, and there again                   | US.1 > US.2 @ 7, US.2 > US.1 @ 6 | US.2
  a circle of one moment                         | US.1 > US.2 @ 5, US.2 > US.1 @ 5 | US.2
  itself                                         | US.1 > US.1 @ 5                  | US.1
  a step that is older than the one to it        | US.1 > US.2 @ 5, US.2 > US.3 @ 4 | US.2
  somebody else                                  | US.9 > US.2 @ 5                  | US.1
  another letter case                            | us.1 > US.2 @ 5, US.ENT.1 > US.2 @ 5 | US.1
`)('%s', async (_, told = '', to) => {
  const words = [...told.matchAll(/([^ ,]+) > ([^ ]+) @ ([0-9]+)/g)];
  const said = words.map(([, userId = '', by = '', atMs]) => [userId, by, Number(atMs)] as const);
  expect([said.length > 0, (await follow(['US.1'], said)).to]).toEqual([told !== '', [to]]);
});

test('numbers are not asked for, each id is asked for once, and those alone are named that changed', async () => {
  const words: Words = [['US.1', 'US.2', 5], ['5491155550001', 'US.2', 5], ['US.4', 'US.2', 5]]; // biome-ignore format: one row
  const { to, redirected, asked } = await follow(['5491155550001', 'US.1', 'US.3', 'US.4', 'US.1', '+54911'], words);
  expect(to).toEqual(['5491155550001', 'US.2', 'US.3', 'US.2', 'US.2', '+54911']);
  expect(redirected).toEqual([[1, 'US.2'], [3, 'US.2'], [4, 'US.2']]); // biome-ignore format: one row
  expect(asked).toEqual([['US.1', 'US.3', 'US.4'], ['US.2']]);
  expect((await follow(['5491155550001'], words)).asked).toEqual([]);
});

test('however long a chain is, five reads are the most', async () => {
  const words = Array.from({ length: 50 }, (_, at) => [`US.${at}`, `US.${at + 1}`, at] as const);
  const { to, asked } = await follow(['US.0', 'US.48'], words);
  expect([to, asked.length]).toEqual([['US.5', 'US.50'], 5]);
});

test('whatever ids persons had, whatever order the platform tells it in, however often: each gets what is theirs', async () => {
  const person = fc.integer({ min: 1, max: 5 });
  const lives = fc.array(person, { minLength: 1, maxLength: 4 });
  const drawn = lives.chain((steps) => {
    const words: Words = steps.flatMap((ids, who) =>
      Array.from({ length: ids }, (_, at) => [`US.${who}x${at}`, `US.${who}x${at + 1}`, 10 * at + who] as const),
    );
    const twice = [...words, ...words];
    return fc.tuple(fc.constant(steps), fc.shuffledSubarray(twice, { minLength: twice.length }));
  });
  await fc.assert(
    fc.asyncProperty(drawn, async ([steps, words]) => {
      for (const [who, last] of steps.entries()) {
        const every = Array.from({ length: last + 1 }, (_, at) => `US.${who}x${at}`);
        expect((await follow(every, words)).to).toEqual(every.map(() => `US.${who}x${last}`));
      }
    }),
  );
});

test('whatever the platform says, following ends, at an id that it named', async () => {
  const id = fc.constantFrom('US.1', 'US.2', 'US.3', 'US.4');
  const words = fc.array(fc.tuple(id, id, fc.integer({ min: 0, max: 5 })), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(words, async (told) => {
      const { to } = await follow(['US.1'], told);
      expect(['US.1', ...told.map(([, by]) => by)]).toContain(to[0]);
    }),
  );
});

test('the warning names them, the first 20', () => {
  expect(redirectedWarning([])).toBeUndefined();
  expect(redirectedWarning([[0, 'US.2'], [4, 'US.3']])).toBe('user ids that the platform has replaced are followed: recipients[0] to US.2, recipients[4] to US.3'); // biome-ignore format: one row
  const many = Array.from({ length: 25 }, (_, at) => [at, 'US.2'] as const);
  expect(redirectedWarning(many)).toMatch(/recipients\[19\] to US\.2 and 5 more$/);
});
