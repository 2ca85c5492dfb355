import { commitOfNow } from './changed-files.ts';
import { checkSteps, noteClean } from './check-steps.ts';
import { runSteps } from './steps.ts';

// `npm run check`: types, and lint of what has changed since all was clean; lint of everything where `CI=true`.
const commit = commitOfNow();
process.exitCode = await runSteps(checkSteps({ whole: process.env['CI'] === 'true' }));
if (process.exitCode === 0 && commit !== undefined) noteClean(commit);
