import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { buildOnce, builtDirectory } from './built-functions.ts';

/**
 * Builds the functions once and synthesizes every choice of settings once for the infra tests, each only when a file of
 * the run needs it.
 */
export async function setup(project: TestProject): Promise<() => void> {
  const files = project.vitest.state.getPaths().map((path) => readFileSync(path, 'utf8'));
  const asks = (module: string) => files.some((text) => text.includes(`/support/${module}.ts'`));
  mkdirSync(builtDirectory, { recursive: true });
  const assembliesDirectory = mkdtempSync(join(builtDirectory, 'test-assemblies-'));
  project.provide('assembliesDirectory', assembliesDirectory);
  await Promise.all([
    asks('built-functions') ? buildOnce() : undefined,
    asks('stack-templates')
      ? promisify(execFile)(process.execPath, [join(import.meta.dirname, 'assemblies.ts'), assembliesDirectory])
      : undefined,
  ]);
  return () => rmSync(assembliesDirectory, { recursive: true });
}
