import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/**
 * The files that are not as they were in a commit: changed by later commits, staged, unstaged or new; neither those that
 * are gone nor those that git ignores. Paths from the project's folder. Undefined when git cannot say: it does not know
 * the commit, or this is no repository.
 */
export function changedSince(commit: string): string[] | undefined {
  const changed = git('diff', '--name-only', '--relative', '-z', '--diff-filter=d', commit, '--');
  const added = git('ls-files', '--others', '--exclude-standard', '-z');
  if (changed === undefined || added === undefined) return undefined;
  return `${changed}${added}`.split('\0').filter((path) => path !== '');
}

/**
 * A commit that holds the files as they are now, but for those that git does not know yet: the one that is checked out,
 * or one that no branch leads to. Undefined when git cannot make one.
 */
export function commitOfNow(): string | undefined {
  // A file that was written again with the same content would keep git from making one.
  git('update-index', '-q', '--refresh');
  const ofChanges = git('stash', 'create')?.trim();
  return ofChanges === '' ? git('rev-parse', '--verify', 'HEAD')?.trim() : ofChanges;
}

function git(...given: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', given, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  return status === 0 ? stdout : undefined;
}
