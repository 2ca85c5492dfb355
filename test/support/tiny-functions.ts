import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LocalTemplate } from '../../infra/local/local-template.ts';

type LocalFunctions = LocalTemplate['functions'];

export interface TinyFunction {
  /** The module's source must export `handler`. */
  readonly code: string;
  readonly timeoutSeconds?: number;
  readonly memoryMb?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Writes each function as `<folder>/<id>/index.mjs`, as a build does, and describes it as the template does. */
export function tinyFunctions(sources: Readonly<Record<string, TinyFunction | string>>): {
  readonly functions: LocalFunctions;
  readonly remove: () => void;
} {
  const folder = mkdtempSync(join(tmpdir(), 'tiny-functions-'));
  const functions = Object.fromEntries(
    Object.entries(sources).map(([id, source]) => {
      const { code, ...settings } = typeof source === 'string' ? { code: source } : source;
      const codeDirectory = join(folder, id);
      mkdirSync(codeDirectory);
      writeFileSync(join(codeDirectory, 'index.mjs'), code);
      const defaults = { timeoutSeconds: 10, memoryMb: 128, environment: {} };
      return [id, { ...defaults, ...settings, id, name: `tiny-${id}`, codeDirectory, handler: 'index.handler' }];
    }),
  );
  return { functions, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
