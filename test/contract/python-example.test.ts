import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'vitest';
import { ended, expectJudged, expectTour, type Program } from '../support/example-course.ts';
import { templateProbes } from '../support/template-probes.ts';

const folder = join(import.meta.dirname, '../examples/python');
const hasPython = spawnSync('python3', ['--version']).status === 0;
// Where Python is known to be there, that it is not is a fault and not a reason to pass.
const isExpected = process.env['EXPECT_PYTHON'] !== undefined;
if (!hasPython && !isExpected) console.log('left out: the examples in Python, because there is no python3 here.');

const probes = templateProbes();
const program: Program = (name, given, input) =>
  ended(
    ['python3', join(folder, `${name}.py`), ...given],
    { env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } },
    input,
  );

test.runIf(hasPython || isExpected)(
  'the tour in Python comes to its end, and every template that can be sent is sent as it says',
  () => expectTour(program, 'python'),
);

test.runIf(hasPython || isExpected)('a delivery is judged in Python as it is here', () =>
  expectJudged(program, probes.draft()),
);
