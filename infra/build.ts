import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '..');

export interface BuildOptions {
  /** Folder whose `*.ts` files are the functions. */
  readonly functionsDirectory: string;
  /** Receives `functions/<name>/index.mjs` and `meta/functions.json`, esbuild's account of what each bundle holds. */
  readonly outputDirectory: string;
}

/** Bundles every function for Lambda, after clearing away what an earlier build left. Returns the names. */
export async function buildFunctions({ functionsDirectory, outputDirectory }: BuildOptions): Promise<string[]> {
  const bundles = join(outputDirectory, 'functions');
  const meta = join(outputDirectory, 'meta');
  for (const folder of [bundles, meta]) rmSync(folder, { recursive: true, force: true });
  const names = readdirSync(functionsDirectory)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => basename(file, '.ts'));
  const { metafile } = await build({
    entryPoints: names.map((name) => ({ in: join(functionsDirectory, `${name}.ts`), out: `${name}/index` })),
    outdir: bundles,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    legalComments: 'none',
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // ES modules first: only they can be tree-shaken, and most of the AWS SDK is left out that way.
    mainFields: ['module', 'main'],
    // Dependencies that are CommonJS call require for Node's own modules, which an ES module does not have.
    banner: { js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);" },
    metafile: true,
    logLevel: 'warning',
  });
  mkdirSync(meta, { recursive: true });
  writeFileSync(join(meta, 'functions.json'), JSON.stringify(metafile));
  return names;
}

if (import.meta.main) {
  const startedMs = Date.now();
  const names = await buildFunctions({
    functionsDirectory: join(root, 'functions'),
    outputDirectory: join(root, 'dist'),
  });
  console.log(`built ${names.length} functions in ${((Date.now() - startedMs) / 1000).toFixed(1)} s`);
}
