import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { QuietReporter } from './quiet-reporter.ts';
import { askedSuite, filesOf, testFiles } from './suites.ts';
import { contractStacks, runnableProjects } from './support/engines.ts';

const suite = askedSuite();

// As many files at once as there are cores. Vitest would leave one core out, and so take one file at a time on two.
const shared = {
  expect: { requireAssertions: true },
  // Only to end what hangs: several files share the cores, and other programs may want them too.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  maxWorkers: '100%',
  setupFiles: support('quiet-output.ts'),
  provide: { thorough: suite !== 'quick' },
};

function support(name: string): string[] {
  return [resolve(import.meta.dirname, 'support', name)];
}

const adapterTests = 'test/**/*.adapter.test.ts';
const queueTests = 'test/**/*.queue.test.ts';
const onEngines = [adapterTests, 'test/faults/**/*.test.ts'];

/**
 * The adapter and fault tests run on each DynamoDB emulator that this machine has (test/support/engines.ts): on the first in
 * `npm test`, on the others, where explorations are short, in the rest.
 */
const [firstEngine = '', ...otherEngines] = Object.keys(runnableProjects()).toReversed();
const adapters = [
  { name: firstEngine, thorough: shared.provide.thorough, include: filesOf(suite, testFiles(onEngines)) },
  ...otherEngines.map((name) => ({ name, thorough: false, include: suite === 'quick' ? [] : onEngines })),
].map(({ name, thorough, include }) => ({
  ...shared,
  name,
  include,
  provide: { thorough },
  globalSetup: support('emulators.ts'),
}));

const projects = [
  {
    ...shared,
    name: 'unit',
    include: filesOf(
      suite,
      testFiles(
        [
          'test/{functions,lib,pipeline,support}/**/*.test.ts',
          'test/infra/{local,openapi,operate,simulator}/**/*.test.ts',
        ],
        [adapterTests, queueTests],
      ),
    ),
  },
  {
    ...shared,
    name: 'queues',
    include: filesOf(suite, testFiles([queueTests])),
    globalSetup: support('queue-emulator.ts'),
  },
  ...adapters,
  { ...shared, name: 'infra', include: filesOf(suite, testFiles(['test/infra/*.test.ts'])) },
  {
    ...shared,
    name: 'contract',
    include: filesOf(suite, testFiles(['test/contract/**/*.test.ts'])),
    globalSetup: support('running-stack.ts'),
    // Each worker has a stack, and runs one file after the other on it; after all others.
    maxWorkers: contractStacks(),
    sequence: { groupOrder: 1 },
  },
];

export default defineConfig({
  test: {
    root: resolve(import.meta.dirname, '..'),
    silent: 'passed-only',
    reporters: [new QuietReporter()],
    projects: projects.filter(({ include }) => include.length > 0).map((test) => ({ test })),
  },
});
