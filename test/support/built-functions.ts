import { join } from 'node:path';
import { buildFunctions } from '../../infra/build.ts';

const root = join(import.meta.dirname, '..', '..');

/** The build writes bundles, source maps and esbuild's metafile here. */
export const builtDirectory = join(root, 'dist');

const runs = globalThis as { builtForTests?: Promise<unknown> };

/** Builds the functions once in a run: all set-ups wait for the same build. */
export async function buildOnce(): Promise<void> {
  runs.builtForTests ??= buildFunctions({
    functionsDirectory: join(root, 'functions'),
    outputDirectory: builtDirectory,
  });
  await runs.builtForTests;
}
