import { runSteps } from './steps.ts';

// `npm run fix`: formats everything, sorts imports, and mends what the linter can mend safely.
process.exitCode = await runSteps([['biome', 'check', '--write', '--error-on-warnings', '.']]);
