import { defineConfig } from 'vitest/config';

/** Also a project of the service's own run, which adds its reporter (test/projects.ts). */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['test/**/*.test.ts'],
    expect: { requireAssertions: true, poll: { timeout: 50_000 } },
    // The timeouts only end a test that hangs: several files share the cores.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    silent: 'passed-only',
  },
});
