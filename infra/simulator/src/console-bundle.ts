import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** It has `app.js`, which every page loads first, `style.css`, and a script for each page. */
export type Bundle = ReadonlyMap<string, string>;

/** Only a packed simulator has the built console beside its program. */
const built = join(import.meta.dirname, 'console');
const isPacked = existsSync(built);

/** The entry page and the icon are here. */
export const consoleFolder: string = isPacked ? built : join(import.meta.dirname, '..', 'console');

let bundling: Promise<Bundle> | undefined;

/**
 * The first page's request builds it, then it is cached: start-up stays fast, and no built file is older than its
 * source. A packed simulator reads its files. Rejects when the build fails.
 */
export function consoleBundle(): Promise<Bundle> {
  bundling ??= isPacked ? read() : bundleConsole().then(({ files }) => files);
  bundling.catch(() => {
    bundling = undefined;
  });
  return bundling;
}

async function read(): Promise<Bundle> {
  const names = readdirSync(built).filter((name) => /\.(?:js|css)$/.test(name));
  return new Map(names.map((name) => [name, readFileSync(join(built, name), 'utf8')]));
}

/** Returns the files, and the paths of all sources in them. */
export async function bundleConsole(): Promise<{ readonly files: Bundle; readonly sources: readonly string[] }> {
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    entryPoints: { app: join(consoleFolder, 'main.tsx'), style: join(consoleFolder, 'style.css') },
    outdir: consoleFolder,
    absWorkingDir: join(consoleFolder, '..'),
    write: false,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfigRaw: {},
    legalComments: 'none',
    logLevel: 'silent',
    metafile: true,
  });
  const files = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  return { files, sources: Object.keys(metafile.inputs) };
}
