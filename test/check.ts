import { commitOfNow } from './changed-files.ts';
import { checkSteps, noteClean } from './check-steps.ts';
import { runSteps } from './steps.ts';

// `npm run check`: types, and lint of what has changed since all was clean; lint of everything with
// `--whole` and where `CI=true`.
const commit = commitOfNow();
const steps = checkSteps({ whole: process.env['CI'] === 'true' || process.argv.includes('--whole') });
process.exitCode = await runSteps(steps);
if (!steps.some(([command]) => command === 'biome')) console.log('no file to lint: all are as when they were clean');
if (process.exitCode === 0 && commit !== undefined) noteClean(commit);
