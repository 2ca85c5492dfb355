import { describe, expect, test } from 'vitest';
import { projectsOf } from '../projects.ts';
import {
  allTests,
  isRestOnly,
  isSized,
  isWhenReached,
  namedTests,
  type Suite,
  testFiles,
  unreachedFiles,
} from '../suites.ts';
import { runScript } from '../support/processes.ts';
import { promises } from '../support/promises.ts';

const everyFile = testFiles(allTests);
const filesIn = (suite: Suite | undefined) => new Set(projectsOf(suite).flatMap(({ include }) => include));

test('each file runs in one of the two halves, whole in one of them, and in a run by name', () => {
  const [quick, rest, byName] = [filesIn('quick'), filesIn('rest'), filesIn(undefined)];
  const unreached = new Set(unreachedFiles());
  for (const file of everyFile) {
    const runs = { quick: quick.has(file), rest: rest.has(file), byName: byName.has(file) };
    const isQuick = !isRestOnly(file) && !unreached.has(file);
    expect({ file, ...runs }).toMatchObject({ file, quick: isQuick, byName: true });
    expect(runs.rest || !(isRestOnly(file) || isWhenReached(file) || isSized(file)), file).toBe(true);
  }
});

/** A file without a mark in PROMISES.md runs whole in `npm test`. */
const markOf = (file: string) => (isRestOnly(file) || isWhenReached(file) ? 'all' : isSized(file) ? 'part' : undefined);

describe('PROMISES.md says in which half each promise is proven', () => {
  test.each(promises)('$number', ({ proofs }) => {
    const marked = proofs.map(({ name, mark }) => ({ name, mark }));
    expect(marked).toEqual(proofs.map(({ name, files: [file = ''] }) => ({ name, mark: markOf(file) })));
  });
});

test.each([
  [['lib/pricing', 'operate/Explanations', 'pricingg'], ['pricingg']],
  [['./test/infra/suites.test.ts:3', '--project', 'unit', '-t', 'no name', '--bail=1'], []],
  [
    ['nothing', 'neither'],
    ['nothing', 'neither'],
  ],
])('of the names %j, no file has %j in its path', (given, unmatched) => {
  expect(namedTests(given, everyFile).unmatched).toEqual(unmatched);
});

test('a run whose names match no file is an error that says them', async () => {
  const { code, stderr } = await runScript('test/all.ts', { arguments: ['pricingg'] }).ended;
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'No test file has this in its path: pricingg. A name is a part of the path of a file.\n',
  });
});
