import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { copiedExample, expectJudged, expectTour } from '../support/example-course.ts';
import { templateProbes } from '../support/template-probes.ts';

/** The time-out only ends what hangs, because packages may load slowly. */
const timeout = 5 * 60_000;
const probes = templateProbes();

/**
 * Returns the folder of a program on the PATH, outside of this project and of npm's own; undefined when there is none.
 */
function folderOf(name: string, version: RegExp): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .find((folder) => version.test(spawnSync(join(folder, name), ['--version'], { encoding: 'utf8' }).stdout ?? ''));
}

/** Returns the folder. Where it is missing, a line says what is left out, or it fails where the program is expected. */
function orLeftOut(what: string, folder: string | undefined, expected: string): string | undefined {
  if (folder === undefined && process.env[expected] !== undefined) throw new Error(`${expected}: ${what} is not here`);
  if (folder === undefined) process.stderr.write(`left out: the examples with ${what}, which is not on the PATH.\n`);
  return folder;
}

const examples = (
  [
    ['typescript', 'Node.js 24', dirname(process.execPath)],
    ['typescript', 'Node.js 20', orLeftOut('Node.js 20', folderOf('node', /^v20\./), 'EXPECT_NODE_20')],
    ['python', 'Python 3', orLeftOut('Python 3', folderOf('python3', /^Python 3\./), 'EXPECT_PYTHON')],
  ] as const
).flatMap(([language, program, folder]) =>
  folder === undefined ? [] : [{ language, program, example: copiedExample(language, folder) }],
);
beforeAll(() => Promise.all(examples.map(({ example }) => example.prepare())), timeout);
afterAll(() => {
  for (const { example } of examples) example.remove();
});

// Each tour sends every template, so the templates of later tests must not exist yet.
test.each(examples)(
  'the tour in $language with $program comes to its end, and every template that can be sent is sent as it says',
  ({ example, language }) => expectTour(example, language),
  timeout,
);

test.each(examples)(
  'a delivery is judged in $language with $program as it is here',
  ({ example }) => expectJudged(example, probes.draft()),
  timeout,
);
