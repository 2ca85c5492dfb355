import { execFile } from 'node:child_process';
import { accessSync, constants, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

type Command = readonly [program: string, ...words: string[]];

interface Client {
  /** The PATH must have these programs, which are not on npm. */
  readonly needs?: readonly string[];
  /** The steps generate the client and compile it with the program that sends. */
  readonly steps: readonly Command[];
  /** The command sends one message to the API whose address is appended, and prints the dispatch id. */
  readonly send: Command;
}

/**
 * Makes a client in TypeScript: `packages` from npm, the generator's own command, and the program in
 * `test/proof/clients/`.
 */
function npmClient(packages: readonly string[], generate: Command, sender: string): Client {
  const install = ['npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', ...compilers, ...packages] as const;
  const bundle = ['esbuild', sender, '--bundle', '--platform=node', '--format=esm', '--outfile=send.mjs'] as const;
  return {
    steps: [install, generate, ['tsc', '--project', 'tsconfig.json'], bundle],
    send: [process.execPath, 'send.mjs'],
  };
}

const compilers = ['typescript@5.9.3', '@types/node@20.19.43'];
const input = 'openapi.json';
const out = 'out/index.ts';

/**
 * The generators are other projects', each with a program that sends. test/README.md has the versions of those on the
 * PATH.
 */
export const clients = {
  'openapi-typescript': npmClient(
    ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0'],
    ['openapi-typescript', input, '--output', out],
    'openapi-typescript.ts',
  ),
  '@hey-api/openapi-ts': npmClient(
    ['@hey-api/openapi-ts@0.99.0'],
    ['openapi-ts', '--input', input, '--output', 'out'],
    'hey-api.ts',
  ),
  orval: npmClient(['orval@8.38.0'], ['orval', '--input', input, '--output', out, '--client', 'fetch'], 'orval.ts'),
  'swagger-typescript-api': npmClient(
    ['swagger-typescript-api@13.13.0'],
    ['swagger-typescript-api', 'generate', '--path', input, '--output', 'out', '--name', 'index.ts'],
    'swagger-typescript-api.ts',
  ),
  'openapi-python-client': {
    needs: ['openapi-python-client'],
    steps: [
      [
        ...(['openapi-python-client', 'generate', '--path', input, '--output-path', 'out', '--meta', 'none'] as const),
        ...['--config', 'openapi-python-client.yaml', '--fail-on-warning'],
      ],
    ],
    // The Python of the generator has the packages that its clients need.
    send: [
      'sh',
      '-c',
      '"$(dirname "$(readlink -f "$(command -v openapi-python-client)")")/python3" openapi_python_client.py "$0"',
    ],
  },
  'oapi-codegen': {
    needs: ['oapi-codegen', 'go'],
    steps: [
      ['oapi-codegen', '-config', 'oapi-codegen.yaml', input],
      ['go', 'mod', 'tidy'],
      ['go', 'vet', './...'],
    ],
    send: ['go', 'run', '.'],
  },
} as const satisfies Readonly<Record<string, Client>>;
export type ClientName = keyof typeof clients;
export const clientNames = Object.keys(clients) as readonly ClientName[];

/** Returns the required programs that are not on the PATH. */
export function missingFor(name: ClientName): readonly string[] {
  const { needs = [] }: Client = clients[name];
  return needs.filter((program) => !folders().some((folder) => isProgram(join(folder, program))));
}

function folders(): string[] {
  return (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const settings = {
  compilerOptions: {
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'preserve',
    moduleResolution: 'bundler',
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
  },
};

/**
 * Generates a client from functions/openapi.json in a folder of its own, compiles it strictly, and sends one message to
 * the demo data of a stack. Returns the dispatch id; rejects with the output of the failed step.
 */
export async function sentByClient(name: ClientName, apiUrl: string): Promise<string> {
  const { steps, send }: Client = clients[name];
  const folder = mkdtempSync(join(tmpdir(), 'generated-client-'));
  try {
    cpSync(join(root, 'test/proof/clients'), folder, { recursive: true });
    cpSync(join(root, 'functions/openapi.json'), join(folder, input));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    const sender = send[1] === 'send.mjs' ? steps.at(-1)?.[1] : undefined;
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...settings, include: ['out', sender] }));
    for (const step of steps) await ran(folder, step);
    return (await ran(folder, [...send, apiUrl])).trim();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a command with the folder's packages first and this project's last on the PATH, and returns its output. */
async function ran(folder: string, [program, ...words]: Command): Promise<string> {
  const foreign = folders().filter((each) => !each.startsWith(root));
  const PATH = [join(folder, 'node_modules/.bin'), ...foreign, join(root, 'node_modules/.bin')].join(delimiter);
  const env = { ...process.env, PATH, npm_config_prefer_offline: 'true', PYTHONDONTWRITEBYTECODE: '1' };
  return new Promise((resolve, reject) => {
    execFile(program, words, { cwd: folder, env, maxBuffer: 1e8 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${[program, ...words].join(' ')} failed\n${error.message}\n${stdout}${stderr}`));
    });
  });
}
