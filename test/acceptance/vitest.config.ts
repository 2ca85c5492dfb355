import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { acceptanceFiles } from './files.ts';

/** `infra/ops check --acceptance` runs one file after the other, because the files share the test clients. */
export default defineConfig({
  test: {
    root: resolve(import.meta.dirname, '..', '..'),
    name: 'acceptance',
    include: acceptanceFiles,
    globalSetup: [resolve(import.meta.dirname, 'setup.ts')],
    expect: { requireAssertions: true },
    testTimeout: 60_000,
    provide: { thorough: true },
    hookTimeout: 60_000,
    teardownTimeout: 120_000,
    maxWorkers: 1,
  },
});
