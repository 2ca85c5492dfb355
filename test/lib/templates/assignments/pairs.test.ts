import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addPairs,
  idsOfPairs,
  type Pair,
  removePair,
  removePairs,
  replacePairs,
} from '../../../../lib/templates/assignments/pairs.ts';
import { documentsText, type TemplateRow } from '../../../../lib/templates/model/row.ts';
import { makeRow } from '../../../support/templates.ts';

const pair = (channelId: number, campaignId: number): Pair => ({ channelId, campaignId });
const [a, b, c] = [pair(501, 10), pair(501, 11), pair(502, 10)];

/** Applies the steps to a row with the placeholder; returns the row's documents and its next number. */
function after(...steps: ((row: TemplateRow) => TemplateRow)[]): string {
  const row = steps.reduce((current, step) => step(current), makeRow());
  return `${documentsText(row)} next ${row.nextSequence}`;
}
const add =
  (...pairs: Pair[]) =>
  (row: TemplateRow) =>
    addPairs(row, pairs);
const replace =
  (...pairs: Pair[]) =>
  (row: TemplateRow) =>
    replacePairs(row, pairs);
const removeAll = (row: TemplateRow) => removePairs(row);
const replaceWithin =
  (campaignId: number, ...wanted: Pair[]) =>
  (row: TemplateRow) =>
    replacePairs(row, wanted, new Set([campaignId]));
const removeWithin = (campaignId: number) => (row: TemplateRow) => removePairs(row, new Set([campaignId]));
const removeOne = (gone: Pair) => (row: TemplateRow) => removePair(row, gone);

describe('documents after', () => {
  test.each([
    ['the first pair: the placeholder keeps its _id', [add(a)], '0:501:10 next 1'],
    ['two first pairs', [add(a, b)], '0:501:10 1:501:11 next 2'],
    ['further pairs', [add(a), add(b, a, c)], '0:501:10 1:501:11 2:502:10 next 3'],
    ['replacing by the same in another order', [add(a, b), replace(b, a)], '0:501:10 1:501:11 next 2'],
    ['replacing, one kept', [add(a, b), replace(c, b)], '1:501:11 2:502:10 next 3'],
    ['replacing, none kept: the oldest lives on', [add(a, b), replace(c)], '0:502:10 next 2'],
    ['replacing the placeholder', [replace(a)], '0:501:10 next 1'],
    ['replacing by none', [add(a, b), replace()], '0 next 2'],
    ['removing all', [add(a, b), removeAll], '0 next 2'],
    ['removing and adding again: no number twice', [add(a, b), removeAll, add(a, b)], '0:501:10 2:501:11 next 3'],
    ['replacing within a scope: others stay', [add(a, b, c), replaceWithin(10, c)], '1:501:11 2:502:10 next 3'],
    ['replacing within a scope, none kept there', [add(a, b), replaceWithin(10, c)], '0:502:10 1:501:11 next 2'],
    ['the same, the younger', [add(b, a), replaceWithin(10, c)], '0:501:11 1:502:10 next 2'],
    ['the same, by pairs of which one is outside', [add(a), replaceWithin(10, b, c)], '0:502:10 1:501:11 next 2'],
    ['replacing within a scope, by a pair outside', [add(a), replaceWithin(10, b)], '0:501:11 next 1'],
    ['removing within a scope: others stay', [add(a, b), removeWithin(10)], '1:501:11 next 2'],
    ['removing within a scope, none of others', [add(a, c), removeWithin(10)], '0 next 2'],
    ['removing in a scope that has none', [add(a), removeWithin(12)], '0:501:10 next 1'],
    ['removing one pair', [add(a, b), removeOne(a)], '1:501:11 next 2'],
    ['removing the last pair', [add(a), removeOne(a)], '0 next 1'],
    ['removing a pair that is not there', [add(a), removeOne(b)], '0:501:10 next 1'],
    ['removing a pair of the placeholder', [removeOne(b)], '0 next 1'],
    ['a younger one that stayed becomes the placeholder', [add(a, b), replace(b), removeAll], '1 next 2'],
  ] as const)('%s', (_, steps, expected) => {
    expect(after(...steps)).toBe(expected);
  });
});

test('the ids of pairs come in the order of the pairs, each once', () => {
  const row = addPairs(makeRow(), [a, b]);
  const [first, second] = row.documents.map(({ id }) => id);
  expect(idsOfPairs(row, [b, a, b])).toEqual([second, first]);
  expect(idsOfPairs(row, [])).toEqual([]);
});

const anyPair = fc.record({ channelId: fc.integer({ min: 1, max: 3 }), campaignId: fc.integer({ min: 1, max: 3 }) });
const anyStep = fc.record({
  kind: fc.constantFrom('add' as const, 'replace' as const, 'remove' as const),
  pairs: fc.array(anyPair, { maxLength: 6 }),
});
type Step = typeof anyStep extends fc.Arbitrary<infer S> ? S : never;
const textOf = ({ channelId, campaignId }: Pair) => `${channelId}:${campaignId}`;

function take(row: TemplateRow, { kind, pairs }: Step): TemplateRow {
  if (kind === 'add') return addPairs(row, pairs);
  return kind === 'replace' ? replacePairs(row, pairs) : removePairs(row);
}

test('a replacement that keeps no pair is a removal and an addition in one, so its path names the template again', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 10 }), fc.array(anyPair, { maxLength: 6 }), (steps, pairs) => {
      const row = steps.reduce(take, makeRow());
      const none = pairs.filter((wanted) => !row.documents.some(({ pair }) => pair && textOf(pair) === textOf(wanted)));
      const replaced = replacePairs(row, none);
      expect(replaced).toEqual(addPairs(removePairs(row), none));
      expect(replaced.documents[0]?.id).toBe(row.documents[0]?.id);
    }),
  );
});

test('whatever the history: exactly the wanted pairs, ids unique and never reborn, everything else untouched', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 20 }), (steps) => {
      const start = makeRow({ active: false, status: 'PAUSED' });
      let row = start;
      let pairs = new Set<string>();
      const gone = new Set<string>();
      for (const step of steps) {
        const next = take(row, step);
        const wanted = step.kind === 'remove' ? [] : step.pairs.map(textOf);
        pairs = new Set(step.kind === 'add' ? [...pairs, ...wanted] : wanted);

        const stored = next.documents.flatMap((document) => (document.pair === undefined ? [] : [document.pair]));
        expect(new Set(stored.map(textOf))).toEqual(pairs);
        expect(next.documents).toHaveLength(Math.max(1, pairs.size));
        const ids = next.documents.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        const sequences = documentsText(next)
          .split(' ')
          .map((text) => Number(text.split(':')[0]));
        expect(sequences).toEqual([...sequences].sort((x, y) => x - y));
        expect(Math.max(...sequences)).toBeLessThan(next.nextSequence);
        for (const id of ids) expect(gone.has(id)).toBe(false);
        for (const { id } of row.documents) if (!ids.includes(id)) gone.add(id);
        // A pair that stays keeps its document.
        for (const kept of row.documents) {
          const now = next.documents.find(({ pair }) => pair && kept.pair && textOf(pair) === textOf(kept.pair));
          if (now !== undefined) expect(now.id).toBe(kept.id);
        }
        expect(take(next, step)).toEqual(next);
        expect({ ...next, documents: [], nextSequence: 0 }).toEqual({ ...start, documents: [], nextSequence: 0 });
        row = next;
      }
    }),
  );
});
