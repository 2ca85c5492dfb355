import { runSteps } from './steps.ts';

// Types and lint: what can be known without running anything.
process.exitCode = await runSteps([
  ['tsc', '--noEmit'],
  ['tsc', '--noEmit', '--project', 'infra/simulator/console'],
  ['biome', 'check', '--error-on-warnings', '.'],
]);
