import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { changedSince, publishedCommit } from './changed-files.ts';

const root = join(import.meta.dirname, '..');

/** A change of these files can change the result of every test. */
const reachedByAll = /^(?:package(?:-lock)?\.json|tsconfig\.json|test\/(?:projects|suites|reach|vitest\.config)\.ts)$/;

/** What bundles the functions reaches all of them, and all that they share. */
const bundlesFunctions = 'infra/build.ts';

/** The names of files in a source: what it imports, what it starts and what it reads. */
const quoted = /(['"`])((?:\.{0,2}\/)?[\w@.-]+(?:\/[\w@.-]+)*\/?)\1/g;

/**
 * Returns which of these test files reach a file that differs from the published commit. A test reaches what it imports
 * or names as text, and what that reaches. Without a published commit, as where nothing was cloned, all do.
 */
export function reachedByChanges(tests: readonly string[]): ReadonlySet<string> {
  const commit = publishedCommit();
  const changed = commit === undefined ? undefined : changedSince(commit);
  return testsThatReach(tests, changed);
}

/** Returns the tests that reach one of these files; all of them when it is not known what has changed. */
export function testsThatReach(tests: readonly string[], changed: readonly string[] | undefined): ReadonlySet<string> {
  if (changed === undefined || changed.some((file) => reachedByAll.test(file))) return new Set(tests);
  const named = new Map<string, readonly string[]>();
  const isChanged = new Set(changed);
  return new Set(
    isChanged.size === 0 ? [] : tests.filter((test) => reachOf(test, named).some((file) => isChanged.has(file))),
  );
}

/** Returns the file and all that it reaches. Paths start at the root. */
export function reachOf(file: string, named = new Map<string, readonly string[]>()): readonly string[] {
  const reached = new Set([file]);
  // A set that grows while it is walked visits what is added.
  for (const each of reached) {
    const names = named.get(each) ?? namedIn(each);
    named.set(each, names);
    for (const name of names) reached.add(name);
    if (each === bundlesFunctions) for (const source of sourcesOfFunctions()) reached.add(source);
  }
  return [...reached];
}

function namedIn(file: string): readonly string[] {
  // An executable of the repository has no ending.
  if (!/\.(?:ts|tsx|mjs|js|sh)$|\/[^.]+$/.test(file)) return [];
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(quoted)].flatMap(([, , name = '']) => {
    const found = [join(root, dirname(file), name), join(root, name)].find(isFile);
    return found === undefined ? [] : [relative(root, found)];
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function sourcesOfFunctions(): string[] {
  return globSync('{functions,lib}/**/*', { cwd: root }).filter((file) => isFile(join(root, file)));
}
