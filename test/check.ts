import { commitOfNow } from './changed-files.ts';
import { checkSteps, noteClean } from './check-steps.ts';
import { runSteps } from './steps.ts';

// `npm run check` checks types, and lints what has changed since the last clean commit; everything with
// `CI=true`.
const commit = commitOfNow();
const steps = checkSteps({ whole: process.env['CI'] === 'true' });
process.exitCode = await runSteps(steps);
if (!steps.some(([command]) => command === 'biome')) console.log('no file to lint: all are as when they were clean');
if (process.exitCode === 0 && commit !== undefined) noteClean(commit);
