import { defineConfig } from 'vitest/config';

const shared = { expect: { requireAssertions: true }, testTimeout: 30_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    projects: [
      { test: { ...shared, name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      {
        test: {
          ...shared,
          name: 'adapters',
          include: ['test/adapters/**/*.test.ts', 'test/faults/**/*.test.ts'],
          globalSetup: ['test/support/emulators.ts'],
        },
      },
      { test: { ...shared, name: 'infra', include: ['test/infra/**/*.test.ts'] } },
      {
        test: {
          ...shared,
          name: 'contract',
          include: ['test/contract/**/*.test.ts'],
          globalSetup: ['test/support/running-stack.ts'],
          fileParallelism: false,
        },
      },
    ],
  },
});
