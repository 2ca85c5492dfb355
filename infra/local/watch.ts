import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildFunctions } from '../build.ts';
import { resourceName } from '../names.ts';
import { watchFolder } from './folder-watch.ts';
import type { RunningStack } from './stack.ts';
import type { Part } from './stack-parts.ts';

const root = join(import.meta.dirname, '..', '..');
/** Bundles come from these sources. A change in `infra/` needs a restart. */
const watched = ['functions', 'lib'];
/** Several saves of an editor within this time are one change. */
const quietMs = 100;

export interface WatchOptions {
  readonly stack: Pick<RunningStack, 'template' | 'runner' | 'addresses'>;
  readonly readable: boolean;
  readonly report: (line: string) => void;
}

/**
 * Rebuilds the functions when a source is saved. Changed functions get fresh processes; running requests end on the old
 * code. A failed build changes nothing.
 */
export function watchSources(options: WatchOptions): Part {
  let timer: NodeJS.Timeout | undefined;
  let building = Promise.resolve();
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      building = building.then(() => rebuild(options));
    }, quietMs);
  };
  const watchers = watched.map((folder) => watchFolder(join(root, folder), changed));
  return {
    stop: async () => {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
      await building;
    },
  };
}

async function rebuild({ stack, readable, report }: WatchOptions): Promise<void> {
  const startedMs = Date.now();
  try {
    const names = await buildFunctions({
      functionsDirectory: join(root, 'functions'),
      outputDirectory: join(root, 'dist'),
      readable,
    });
    const renewed: string[] = [];
    for (const name of names) if (await renew(name, stack)) renewed.push(name);
    const seconds = ((Date.now() - startedMs) / 1000).toFixed(1);
    report(`built in ${seconds} s; ${renewed.length === 0 ? 'no function has changed' : `new: ${renewed.join(', ')}`}`);
  } catch {
    report('not built, see above; the functions stay as they were');
  }
}

/** Replaces the bundle that a function's processes load. Returns false when it has not changed. */
async function renew(name: string, { template, runner, addresses }: WatchOptions['stack']): Promise<boolean> {
  const physicalName = resourceName(addresses.stage, name);
  const [id, definition] = Object.entries(template.functions).find(([, { name }]) => name === physicalName) ?? [];
  if (id === undefined || definition === undefined) return false;
  const file = join(definition.codeDirectory, 'index.mjs');
  const [now, before] = await Promise.all([
    readFile(join(root, 'dist', 'functions', name, 'index.mjs')),
    readFile(file),
  ]);
  if (now.equals(before)) return false;
  // The rename is atomic, so a starting process never loads half a file.
  await writeFile(`${file}.new`, now);
  await rename(`${file}.new`, file);
  runner.recycle(id);
  return true;
}
