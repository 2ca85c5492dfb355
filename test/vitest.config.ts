import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { contractStacks, runnableProjects } from './support/engines.ts';

// As many files at once as there are cores. Vitest would leave one core out, and so take one file at a time on two.
const shared = {
  expect: { requireAssertions: true },
  // Only to end what hangs: several files share the cores, and other programs may want them too.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  maxWorkers: '100%',
};
const support = (name: string) => [resolve(import.meta.dirname, 'support', name)];
const adapterTests = 'test/**/*.adapter.test.ts';
const queueTests = 'test/**/*.queue.test.ts';

/** The adapter and fault tests run once on each DynamoDB emulator that this machine has (test/support/engines.ts). */
const adapters = Object.keys(runnableProjects()).map((name) => ({
  test: {
    ...shared,
    name,
    include: [adapterTests, 'test/faults/**/*.test.ts'],
    globalSetup: support('emulators.ts'),
  },
}));

export default defineConfig({
  test: {
    root: resolve(import.meta.dirname, '..'),
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: [
            'test/{functions,lib,pipeline,support}/**/*.test.ts',
            'test/infra/{local,openapi,operate,simulator}/**/*.test.ts',
          ],
          exclude: [adapterTests, queueTests],
        },
      },
      { test: { ...shared, name: 'queues', include: [queueTests], globalSetup: support('queue-emulator.ts') } },
      ...adapters,
      { test: { ...shared, name: 'infra', include: ['test/infra/*.test.ts'] } },
      {
        test: {
          ...shared,
          name: 'contract',
          include: ['test/contract/**/*.test.ts'],
          globalSetup: support('running-stack.ts'),
          // Each worker has a stack, and runs one file after the other on it; after all others.
          maxWorkers: contractStacks(),
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
