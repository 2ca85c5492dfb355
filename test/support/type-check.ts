import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** A client may have no stricter settings. */
const compilerOptions = {
  strict: true,
  noEmit: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  module: 'nodenext',
  target: 'esnext',
  allowImportingTsExtensions: true,
  types: [],
};

/** Compiles the files, by name, as one program of their own. Returns the compiler's faults for each file with any. */
export function typeFaults(files: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'types-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const { stdout, status } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder, '--pretty', 'false'],
      { cwd: folder, encoding: 'utf8' },
    );
    const faults = [...stdout.matchAll(/^(?:.*\/)?([\w-]+\.ts)\(\d+,\d+\): (error .*)$/gm)];
    if ((status === 0) !== (faults.length === 0)) throw new Error(`tsc ended with ${status}:\n${stdout}`);
    return new Map(
      [...Map.groupBy(faults, ([, name = '']) => name)].map(([name, found]) => [
        name,
        found.map(([, , fault = '']) => fault),
      ]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
