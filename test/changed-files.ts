import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/**
 * Returns the files that differ from a commit: changed, staged, unstaged or new, without deleted and ignored files.
 * Paths start at the project's folder. It is undefined when git does not know the commit, or this is no repository.
 */
export function changedSince(commit: string): string[] | undefined {
  const changed = git('diff', '--name-only', '--relative', '-z', '--diff-filter=d', commit, '--');
  const added = git('ls-files', '--others', '--exclude-standard', '-z');
  if (changed === undefined || added === undefined) return undefined;
  return `${changed}${added}`.split('\0').filter((path) => path !== '');
}

/**
 * Returns a commit with the tracked files as they are now: HEAD, or a commit that no branch leads to. It is undefined
 * when git cannot make one.
 */
export function commitOfNow(): string | undefined {
  // Git reports a file as changed when it was written again with the same content, until its index is refreshed.
  git('update-index', '-q', '--refresh');
  const ofChanges = git('stash', 'create')?.trim();
  return ofChanges === '' ? git('rev-parse', '--verify', 'HEAD')?.trim() : ofChanges;
}

/**
 * Returns the newest commit that HEAD has in common with the branch that was cloned: that one continuous integration
 * has proven. It is undefined where there is none.
 */
export function publishedCommit(): string | undefined {
  return git('merge-base', 'HEAD', 'origin/HEAD')?.trim();
}

function git(...given: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', given, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  return status === 0 ? stdout : undefined;
}
