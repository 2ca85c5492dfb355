import { runSteps } from './steps.ts';

// Everything that proves the service, the summary of the tests last. Arguments go to vitest: `npm test -- login`.
process.exitCode = await runSteps([
  ['tsc', '--noEmit'],
  ['biome', 'check', '--error-on-warnings', '.'],
  ['node', 'infra/build.ts'],
  ['node', 'infra/app.ts'],
  ['vitest', 'run', '--config', 'test/vitest.config.ts', ...process.argv.slice(2)],
]);
