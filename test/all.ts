import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { runSteps } from './steps.ts';
import { allTests, namedTests, testFiles, unreachedFiles } from './suites.ts';
import { leftOut } from './support/engines.ts';

// `npm test` runs types, lint, and the tests that a change breaks most easily; `npm run test:all` the rest; `npm test
// -- NAME...` those whose path holds a name. Other arguments go to vitest.
const given = process.argv.slice(2);
const rest = given[0] === '--rest';
const asked = rest ? given.slice(1) : given;
const tests = ['vitest', 'run', '--config', 'test/vitest.config.ts', ...asked] as const;

// Tests start hundreds of processes, which load the same libraries: a shared compile cache saves each of them the
// compilation.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled');

if (asked.length > 0) {
  const { names, unmatched } = namedTests(asked, testFiles(allTests));
  const runsNone = unmatched.length > 0 && unmatched.length === names.length;
  process.exitCode = runsNone ? 1 : await runSteps([tests]);
  if (unmatched.length > 0) {
    console.error(
      `No test file has this in its path: ${unmatched.join(', ')}. A name is a part of the path of a file.`,
    );
  }
} else {
  process.env['TEST_SUITE'] = rest ? 'rest' : 'quick';
  const checks = rest ? undefined : checkedBeside();
  process.exitCode = await runSteps([tests]);
  const checked = await checks;
  if (checked !== undefined && checked.status !== 0) {
    process.exitCode = 1;
    console.error(`${checked.output}\nfailed: types or lint, see above (npm run check)`);
  }
  const line = rest ? leftOut() : leftToRest(unreachedFiles().length);
  if (line !== undefined) console.log(line);
}

function leftToRest(files: number): string | undefined {
  if (files === 0) return undefined;
  return `left to npm run test:all: ${files} files of commands, local stack, campaigns, explorations and faults, because nothing that they reach has changed since the published commit`;
}

/**
 * Runs types and lint beside the tests, at low priority. Their findings are printed at the end, where people look for
 * them.
 */
async function checkedBeside(): Promise<{ readonly status: number; readonly output: string }> {
  const child = spawn('node', ['test/check.ts'], { stdio: ['ignore', 'pipe', 'pipe'] });
  if (child.pid !== undefined) setPriority(child.pid, 10);
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
  const status = await new Promise<number>((resolve) => {
    child.once('error', () => resolve(1));
    child.once('close', (code) => resolve(code ?? 1));
  });
  return { status, output: Buffer.concat(output).toString() };
}
