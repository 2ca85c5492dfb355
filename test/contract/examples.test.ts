import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { copiedExample, expectJudged, expectTour } from '../support/example-course.ts';
import { templateProbes } from '../support/template-probes.ts';

/** Only to end what hangs: packages may come from afar. */
const timeout = 5 * 60_000;
const probes = templateProbes();

/** The folder of a program of the machine, neither of this project nor of what started it; undefined when it has none. */
function folderOf(name: string, version: RegExp): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .find((folder) => version.test(spawnSync(join(folder, name), ['--version'], { encoding: 'utf8' }).stdout ?? ''));
}

/** The folder, unless it is not there: then what is left out is said, or is a fault where it is expected. */
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

// All tours first: what the others create would be sent by the next tour.
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
