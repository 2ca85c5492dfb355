import { runSteps } from './steps.ts';

// Types and lint: what can be known without running anything.
process.exitCode = await runSteps([
  ['tsc', '--noEmit'],
  ['biome', 'check', '--error-on-warnings', '.'],
]);
