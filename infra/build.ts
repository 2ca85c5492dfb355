import { appendFileSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '..');

/**
 * The AWS SDK imports these to read event streams and credentials outside the environment; no function needs that.
 * Bundled, they took two fifths of the clients' start-up.
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
  readonly functionsDirectory: string;
  readonly outputDirectory: string;
  /** Keeps names and line breaks for a debugger; never deployed. */
  readonly readable?: boolean;
}

/** Bundles every `*.ts` file as a function, removes older bundles, and returns the names. */
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
    // Only ES modules can be tree-shaken, which leaves most of the AWS SDK out.
    mainFields: ['module', 'main'],
    external: sdkNeverImports,
    // CommonJS dependencies need a require for Node's modules.
    banner: { js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);" },
    metafile: true,
    logLevel: 'warning',
  });
  mkdirSync(bundles, { recursive: true });
  // Each folder is exchanged apart, so a concurrent start or synthesis finds all bundles.
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
 * Node.js would read a deployed source map at every start. The relative path is valid here and in the copy that
 * synthesis makes.
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
