import { describe, expect, test } from 'vitest';
import { projectsOf } from '../projects.ts';
import { isRestOnly, isSized, type Suite, testFiles } from '../suites.ts';
import { documentOf, sectionsOf } from '../support/documents.ts';

const everyFile = testFiles(['test/**/*.test.ts']);
const filesIn = (suite: Suite | undefined) => new Set(projectsOf(suite).flatMap(({ include }) => include));

test('each file runs in one of the two halves, whole in one of them, and in a run by name', () => {
  const [quick, rest, byName] = [filesIn('quick'), filesIn('rest'), filesIn(undefined)];
  for (const file of everyFile) {
    const runs = { quick: quick.has(file), rest: rest.has(file), byName: byName.has(file) };
    expect({ file, ...runs }).toMatchObject({ file, quick: !isRestOnly(file), byName: true });
    expect(runs.rest || !(isRestOnly(file) || isSized(file)), file).toBe(true);
  }
});

/** The mark of a file in a document; no mark means that `npm test` runs it whole. */
const markOf = (file: string) => (isRestOnly(file) ? ' (all)' : isSized(file) ? ' (part)' : '');

describe('PROMISES.md says in which half each promise is proven', () => {
  const promises = [...sectionsOf(documentOf('test/PROMISES.md'))].slice(1);
  test.each(promises)('%s', (_, text) => {
    const marked = [...text.matchAll(/`(test\/[^`]+\.test\.ts)`(\s\((?:all|part)\))?/g)];
    const wrong = marked.filter(([, file = '', mark = '']) => mark.replace(/\s/, ' ') !== markOf(file));
    expect(wrong.map(([, file = '']) => `${file}${markOf(file)}`)).toEqual([]);
  });
});
