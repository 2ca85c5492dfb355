import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { projectsOf } from './projects.ts';
import { QuietReporter } from './quiet-reporter.ts';
import { askedSuite } from './suites.ts';

export default defineConfig({
  test: {
    root: resolve(import.meta.dirname, '..'),
    silent: 'passed-only',
    reporters: [new QuietReporter()],
    projects: projectsOf(askedSuite()).map((test) => ({ test })),
  },
});
