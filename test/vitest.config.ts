import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

const shared = { expect: { requireAssertions: true }, testTimeout: 30_000, hookTimeout: 60_000 };
const support = (name: string) => [resolve(import.meta.dirname, 'support', name)];
const adapterTests = 'test/**/*.adapter.test.ts';

export default defineConfig({
  test: {
    root: resolve(import.meta.dirname, '..'),
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['test/{functions,lib,support}/**/*.test.ts', 'test/infra/{local,operate,simulator}/**/*.test.ts'],
          exclude: [adapterTests],
        },
      },
      {
        test: {
          ...shared,
          name: 'adapters',
          include: [adapterTests, 'test/faults/**/*.test.ts'],
          globalSetup: support('emulators.ts'),
        },
      },
      { test: { ...shared, name: 'infra', include: ['test/infra/*.test.ts'] } },
      {
        test: {
          ...shared,
          name: 'contract',
          include: ['test/contract/**/*.test.ts'],
          globalSetup: support('running-stack.ts'),
          fileParallelism: false,
        },
      },
    ],
  },
});
