import { commitOfNow } from './changed-files.ts';
import { checkSteps, noteClean } from './check-steps.ts';
import { runSteps, type Step } from './steps.ts';

// `npm run check` checks types and licences, and lints what has changed since the last clean commit; everything with
// `CI=true`.
const commit = commitOfNow();
const licences: Step = ['node', 'infra/licences.ts', '--refused'];
const steps = checkSteps({ whole: process.env['CI'] === 'true' });
process.exitCode = await runSteps([...steps, licences]);
if (!steps.some(([command]) => command === 'biome')) console.log('no file to lint: all are as when they were clean');
if (process.exitCode === 0 && commit !== undefined) noteClean(commit);
