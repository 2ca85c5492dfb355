import { join } from 'node:path';
import { buildFunctions } from '../../infra/build.ts';

const root = join(import.meta.dirname, '..', '..');

/** Where bundles, source maps and esbuild's account of them stand after a build. */
export const builtDirectory = join(root, 'dist');

const runs = globalThis as { builtForTests?: Promise<unknown> };

/** Builds the functions, once in a run: every set-up that needs them waits for the same build. */
export async function buildOnce(): Promise<void> {
  runs.builtForTests ??= buildFunctions({
    functionsDirectory: join(root, 'functions'),
    outputDirectory: builtDirectory,
  });
  await runs.builtForTests;
}
