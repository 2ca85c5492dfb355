import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// `npm run proof -- generators`: others' generators of clients read functions/openapi.json as it is, and what they make of it
// compiles, strictly. Each is installed from the npm registry into a folder of its own, which is removed.

interface Generator {
  readonly packages: readonly string[];
  /** The command that writes `out/` from `openapi.json`, in the folder of the generator. */
  readonly command: readonly [string, ...string[]];
}

const generators: Readonly<Record<string, Generator>> = {
  'openapi-typescript': {
    packages: ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0'],
    command: ['openapi-typescript', 'openapi.json', '--output', 'out/index.ts'],
  },
  '@hey-api/openapi-ts': {
    packages: ['@hey-api/openapi-ts@0.99.0'],
    command: ['openapi-ts', '--input', 'openapi.json', '--output', 'out'],
  },
  orval: {
    packages: ['orval@8.38.0'],
    command: ['orval', '--input', 'openapi.json', '--output', 'out/index.ts', '--client', 'fetch'],
  },
  'swagger-typescript-api': {
    packages: ['swagger-typescript-api@13.13.0'],
    command: ['swagger-typescript-api', 'generate', '--path', 'openapi.json', '--output', 'out', '--name', 'index.ts'],
  },
};

const compiler = 'typescript@5.9.3';
const settings = {
  compilerOptions: {
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'preserve',
    moduleResolution: 'bundler',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  },
  include: ['out'],
};

for (const [name, generator] of Object.entries(generators)) {
  const trouble = troubleWith(generator);
  console.log(trouble === undefined ? `${name}: its client compiles` : `${name}: ${trouble}`);
  if (trouble !== undefined) process.exitCode = 1;
}

/** What went wrong with a generator or with what it made; undefined when nothing did. */
function troubleWith({ packages, command: [program, ...words] }: Generator): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'generator-'));
  try {
    cpSync(join(import.meta.dirname, '..', '..', 'functions', 'openapi.json'), join(folder, 'openapi.json'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
    mkdirSync(join(folder, 'out'));
    return (
      failureOf(folder, 'npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', compiler, ...packages]) ??
      failureOf(folder, join('node_modules', '.bin', program), words) ??
      failureOf(folder, join('node_modules', '.bin', 'tsc'), [])
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function failureOf(folder: string, command: string, words: readonly string[]): string | undefined {
  const { status, stdout, stderr, error } = spawnSync(command, words, { cwd: folder, encoding: 'utf8' });
  if (status === 0) return undefined;
  return `${[command, ...words].join(' ')} failed\n${error?.message ?? ''}${stdout ?? ''}${stderr ?? ''}`;
}
