import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { changedSince } from './changed-files.ts';
import type { Step } from './steps.ts';

/** The file holds the last clean commit: only the files that differ from it are linted again. */
const cleanFile = join(import.meta.dirname, '../node_modules/.cache/clean-commit');

/** A change of these files can change the result for every file: the linter's rules, and its version. */
const decidesAll = /^(?:\.biome\.json|\.gitignore|infra\/lint\/.*|package-lock\.json)$/;

const lint = ['biome', 'check', '--error-on-warnings'] as const;

/** Lints files by name. The linter skips files that it does not know or that it ignores. */
export const lintOf = (paths: readonly string[], ...options: string[]): Step => [
  ...lint,
  ...options,
  ...paths,
  '--no-errors-on-unmatched',
  '--files-ignore-unknown=true',
];

/**
 * Checks types, and lints everything (`whole`) or what has changed since the last clean commit. Types are always
 * checked as a whole, which is fast the second time (`incremental`).
 */
export function checkSteps({ whole }: { readonly whole: boolean }): Step[] {
  const changed = whole ? undefined : changedSinceClean();
  return [
    ['tsc'],
    ['tsc', '--project', 'infra/simulator'],
    ['tsc', '--project', 'infra/simulator/console'],
    ...(changed === undefined ? [[...lint, '.'] as const] : changed.length > 0 ? [lintOf(changed)] : []),
  ];
}

/** Stores a commit in which all files are clean. */
export function noteClean(commit: string): void {
  mkdirSync(dirname(cleanFile), { recursive: true });
  writeFileSync(cleanFile, commit);
}

/** Returns undefined when every file must be linted. */
function changedSinceClean(): string[] | undefined {
  const changed = existsSync(cleanFile) ? changedSince(readFileSync(cleanFile, 'utf8')) : undefined;
  return changed?.some((path) => decidesAll.test(path)) ? undefined : changed;
}
