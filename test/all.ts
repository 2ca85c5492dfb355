import { join } from 'node:path';
import { runSteps } from './steps.ts';
import { leftOut } from './support/engines.ts';

// `npm test`: everything that proves the service, the summary of the tests last. `npm test -- NAME`: only the tests whose
// path holds NAME, at once; whatever stands there goes to vitest as it is. Tests that need bundles build them.
const asked = process.argv.slice(2);
const tests = ['vitest', 'run', '--config', 'test/vitest.config.ts', ...asked] as const;

// Test files and the scripts that they run are hundreds of processes, which load the same libraries: each keeps what it
// has compiled for the next.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled');

process.exitCode = await runSteps(
  asked.length > 0
    ? [tests]
    : [
        ['tsc', '--noEmit'],
        ['tsc', '--noEmit', '--project', 'infra/simulator/console'],
        ['biome', 'check', '--error-on-warnings', '.'],
        ['node', 'infra/build.ts'],
        ['node', 'infra/app.ts'],
        tests,
      ],
);
const line = leftOut();
if (line !== undefined) console.log(line);
