import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { changedSince } from './changed-files.ts';
import type { Step } from './steps.ts';

/** Holds the commit that was clean: what differs from it has to be linted again, and nothing else. */
const cleanFile = join(import.meta.dirname, '../node_modules/.cache/clean-commit');

/** What decides about every file: the linter's rules, and its version. */
const decidesAll = /^(?:\.biome\.json|\.gitignore|infra\/lint\/.*|package-lock\.json)$/;

const lint = ['biome', 'check', '--error-on-warnings'] as const;

/** The linter on files by name; those that it does not know, or leaves alone, are passed over. */
export const lintOf = (paths: readonly string[], ...options: string[]): Step => [
  ...lint,
  ...options,
  ...paths,
  '--no-errors-on-unmatched',
  '--files-ignore-unknown=true',
];

/**
 * What can be known without running anything. Types are looked at as a whole, which is quick the second time
 * (`incremental` in the files tsconfig.json); lint `whole`, or what has changed since all was clean.
 */
export function checkSteps({ whole }: { readonly whole: boolean }): Step[] {
  const changed = whole ? undefined : changedSinceClean();
  return [
    ['tsc'],
    ['tsc', '--project', 'infra/simulator/console'],
    ...(changed === undefined ? [[...lint, '.'] as const] : changed.length > 0 ? [lintOf(changed)] : []),
  ];
}

/** Notes that the files are clean as they are in a commit. */
export function noteClean(commit: string): void {
  mkdirSync(dirname(cleanFile), { recursive: true });
  writeFileSync(cleanFile, commit);
}

/** Undefined when any file may be other than clean. */
function changedSinceClean(): string[] | undefined {
  const changed = existsSync(cleanFile) ? changedSince(readFileSync(cleanFile, 'utf8')) : undefined;
  return changed?.some((path) => decidesAll.test(path)) ? undefined : changed;
}
