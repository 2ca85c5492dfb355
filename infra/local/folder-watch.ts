import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

/**
 * Reports every change below a folder. On Linux Node's recursive watcher loses a file that an editor or git replaces,
 * so each folder has its own watcher.
 */
export function watchFolder(folder: string, onChange: () => void): { close(): void } {
  const watchers = new Map<string, FSWatcher>();
  const unwatch = (path: string) => {
    watchers.get(path)?.close();
    watchers.delete(path);
  };
  const watchFoldersBelow = () => {
    const present = new Set([folder, ...foldersBelow(folder)]);
    for (const path of watchers.keys()) if (!present.has(path)) unwatch(path);
    for (const path of present) {
      if (watchers.has(path)) continue;
      // A folder that disappears while it is watched is no failure.
      watchers.set(
        path,
        watch(path, changed).on('error', () => unwatch(path)),
      );
    }
  };
  const changed = () => {
    watchFoldersBelow();
    onChange();
  };
  watchFoldersBelow();
  return { close: () => [...watchers.keys()].forEach(unwatch) };
}

function foldersBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name));
}
