import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleConsole, consoleFolder } from './src/console-bundle.ts';

// `npm run build -w infra/simulator`, and `npm pack`: one program of plain JavaScript with everything that it needs,
// because Node.js strips no types of an installed package. It runs from Node.js 20 on.

const folder = import.meta.dirname;
const output = join(folder, 'dist');
/** Node.js 20 does not have this one yet. */
const parseOfNode22 = 'URL.parse ??= (text, base) => (URL.canParse(text, base) ? new URL(text, base) : null);';

for (const made of ['main.js', 'console', 'licences.txt']) rmSync(join(output, made), { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: { main: join(folder, 'src/main.ts') },
  outdir: output,
  absWorkingDir: folder,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // The console is built below; only the sources bundle it while they run.
  external: ['esbuild'],
  banner: { js: `#!/usr/bin/env node\n${parseOfNode22}` },
  metafile: true,
  logLevel: 'warning',
});
chmodSync(join(output, 'main.js'), 0o755);
const { files, sources } = await bundleConsole();
mkdirSync(join(output, 'console'));
for (const [name, text] of files) writeFileSync(join(output, 'console', name), text);
for (const name of ['index.html', 'icon.svg']) cpSync(join(consoleFolder, name), join(output, 'console', name));
writeFileSync(join(output, 'licences.txt'), licencesOf([...Object.keys(metafile.inputs), ...sources]));

/** Returns the licence of every package that is inside. Throws for a package without one. */
function licencesOf(paths: readonly string[]): string {
  const packages = new Set(paths.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  return [...packages]
    .sort()
    .map((path) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      const [file] = globSync('LICEN[CS]E*', { cwd: join(folder, path) });
      if (file === undefined) throw new Error(`${name} comes without a licence`);
      return `${name}\n\n${readFileSync(join(folder, path, file), 'utf8').trim()}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}
