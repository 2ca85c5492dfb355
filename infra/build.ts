import { appendFileSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '..');

/**
 * What the AWS SDK imports on two occasions that no function has: looking for credentials elsewhere than in the
 * environment, where Lambda puts them, and reading a stream of events. Inside a bundle it took two fifths of the clients'
 * start-up: it is large, and esbuild wraps every module that it shares with them, so that each can be run on demand.
 */
export const sdkNeverImports = [
  '@aws-sdk/credential-provider-http',
  '@aws-sdk/credential-provider-ini',
  '@aws-sdk/credential-provider-process',
  '@aws-sdk/credential-provider-sso',
  '@aws-sdk/credential-provider-web-identity',
  '@smithy/core/event-streams',
  '@smithy/credential-provider-imds',
];

export interface BuildOptions {
  /** Folder whose `*.ts` files are the functions. */
  readonly functionsDirectory: string;
  /**
   * Receives `functions/<name>/index.mjs`, `source-maps/<name>/index.mjs.map` and `meta/functions.json`, esbuild's account
   * of what each bundle holds.
   */
  readonly outputDirectory: string;
  /** Keeps the names and the line breaks of the sources, for a debugger. Never deployed. */
  readonly readable?: boolean;
}

/** Bundles every function for Lambda, and clears away what an earlier build left. Returns the names. */
export async function buildFunctions(options: BuildOptions): Promise<string[]> {
  const { functionsDirectory, outputDirectory, readable = false } = options;
  const bundles = join(outputDirectory, 'functions');
  const made = `${bundles}.${process.pid}`;
  const meta = join(outputDirectory, 'meta');
  const maps = join(outputDirectory, 'source-maps');
  const names = readdirSync(functionsDirectory)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => basename(file, '.ts'));
  const { metafile } = await build({
    entryPoints: names.map((name) => ({ in: join(functionsDirectory, `${name}.ts`), out: `${name}/index` })),
    outdir: made,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: !readable,
    sourcemap: 'external',
    sourcesContent: false,
    legalComments: 'none',
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // ES modules first: only they can be tree-shaken, and most of the AWS SDK is left out that way.
    mainFields: ['module', 'main'],
    external: sdkNeverImports,
    // Dependencies that are CommonJS call require for Node's own modules, which an ES module does not have.
    banner: { js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);" },
    metafile: true,
    logLevel: 'warning',
  });
  mkdirSync(bundles, { recursive: true });
  // Exchanged one by one: whoever starts or synthesizes meanwhile finds all of them.
  for (const name of names) {
    setMapBeside(name, made, maps);
    rmSync(join(bundles, name), { recursive: true, force: true });
    renameSync(join(made, name), join(bundles, name));
  }
  rmSync(made, { recursive: true });
  for (const folder of [bundles, maps]) {
    for (const old of readdirSync(folder).filter((name) => !names.includes(name))) {
      rmSync(join(folder, old), { recursive: true, force: true });
    }
  }
  mkdirSync(meta, { recursive: true });
  writeFileSync(join(meta, 'functions.json'), JSON.stringify(metafile).replaceAll(`${basename(made)}/`, 'functions/'));
  return names;
}

/**
 * Moves a bundle's source map out of the folder that is deployed, and says in the bundle where it is: Node.js would
 * read it at every start. From the bundle's folder, and from the copy that synthesis makes of it, the way is the same.
 */
function setMapBeside(name: string, bundles: string, maps: string): void {
  const file = join(name, 'index.mjs');
  mkdirSync(join(maps, name), { recursive: true });
  renameSync(join(bundles, `${file}.map`), join(maps, `${file}.map`));
  appendFileSync(join(bundles, file), `//# sourceMappingURL=../../${basename(maps)}/${name}/index.mjs.map\n`);
}

if (import.meta.main) {
  const startedMs = Date.now();
  const names = await buildFunctions({
    functionsDirectory: join(root, 'functions'),
    outputDirectory: join(root, 'dist'),
    readable: process.argv.includes('--readable'),
  });
  console.log(`built ${names.length} functions in ${((Date.now() - startedMs) / 1000).toFixed(1)} s`);
}
