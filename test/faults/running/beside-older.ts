import { join } from 'node:path';
import { functions } from '../../../infra/functions.ts';
import type { RunningStack } from '../../../infra/local/stack.ts';
import { purposeOf } from '../../../infra/names.ts';
import { ran } from '../../../infra/operate/stage/emulator/ministack.ts';
import { commitOf, unpacked } from '../../../infra/operate/stage/emulator/stage.ts';

/**
 * From now on every second process of a function with a canary runs an older commit of the same formats, which is built
 * beside this checkout. Returns a count of these processes.
 */
export function besideOlder({ template, addresses }: RunningStack, name: string): () => number {
  const folder = unpacked(commitOf(name));
  ran(process.execPath, ['infra/run.mjs', 'infra/build.ts'], { folder });
  let older = 0;
  for (const definition of Object.values(template.functions)) {
    const purpose = purposeOf(addresses.stage, definition.name);
    if (functions[purpose]?.canary === undefined) continue;
    const { codeDirectory } = definition;
    let chosen: string | undefined;
    let isOlder = true;
    const choose = () => {
      isOlder = !isOlder;
      if (isOlder) older += 1;
      return isOlder ? join(folder, 'dist', 'functions', purpose) : codeDirectory;
    };
    Object.defineProperty(definition, 'codeDirectory', {
      get: () => {
        // A process asks more than once while it starts.
        chosen ??= choose();
        queueMicrotask(() => {
          chosen = undefined;
        });
        return chosen;
      },
    });
  }
  return () => older;
}
