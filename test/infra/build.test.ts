import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { buildFunctions, sdkNeverImports } from '../../infra/build.ts';
import { builtDirectory } from '../support/built-functions.ts';

const functionsDirectory = resolve(import.meta.dirname, '..', '..', 'functions');
// The project's set-up has built this folder.
const outputDirectory = builtDirectory;
const names = readdirSync(functionsDirectory)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => basename(file, '.ts'));

describe('a build', () => {
  const folder = mkdtempSync(join(tmpdir(), 'build-'));
  const builtFrom = (text: string) => {
    writeFileSync(join(folder, 'one.ts'), text);
    return (readable: boolean) =>
      buildFunctions({ functionsDirectory: folder, outputDirectory: join(folder, 'out'), readable });
  };
  afterAll(() => rmSync(folder, { recursive: true }));

  it('clears older bundles away, and nothing else', async () => {
    mkdirSync(join(folder, 'out', 'functions', 'gone'), { recursive: true });
    writeFileSync(join(folder, 'out', 'local-stacks.json'), '{}');
    expect(await builtFrom('export const handler = () => 1;')(false)).toEqual(['one']);
    expect(readdirSync(join(folder, 'out', 'functions'))).toEqual(['one']);
    expect(existsSync(join(folder, 'out', 'local-stacks.json'))).toBe(true);
  });

  it('makes bundles that a debugger can show, when asked to', async () => {
    const build = builtFrom('const telling = () => Date.now();\nexport const handler = () => telling() + telling();');
    const bundle = () => readFileSync(join(folder, 'out', 'functions', 'one', 'index.mjs'), 'utf8');
    await build(false);
    expect(bundle()).not.toContain('telling');
    await build(true);
    expect(bundle()).toContain('telling');
  });
});

it('makes one bundle for each file in functions/', () => {
  expect(readdirSync(join(outputDirectory, 'functions')).sort()).toEqual(names.toSorted());
});

it('makes bundles that run as they are', async () => {
  const bundle = join(outputDirectory, 'functions', 'health', 'index.mjs');
  const { handler } = await import(pathToFileURL(bundle).href);
  expect(await handler({ requestContext: { requestId: 'r' } }, {})).toMatchObject({
    statusCode: 200,
    body: '{"status":"ok"}',
  });
});

describe('messages-send at start-up', () => {
  const variables = {
    DIRECTORY_TABLE: 'directory',
    TEMPLATES_TABLE: 'templates',
    MESSAGES_TABLE: 'messages',
    REDIRECTS_TABLE: 'redirects',
    WEBHOOKS_TABLE: 'webhooks',
    BUDGETS_TABLE: 'budgets',
    CHANNELS_TABLE: 'channels',
    RATES_TABLE: 'rates',
    CLIENT_RATE_PER_MINUTE: '3000',
    EVENT_QUEUE_URL: 'http://127.0.0.1:1/events',
    DISPATCH_QUEUE_URL: 'http://127.0.0.1:1/dispatch',
    URGENT_QUEUE_URL: 'http://127.0.0.1:1/urgent',
    PLATFORM_BASE_URL: 'http://127.0.0.1:1',
    PLATFORM_VERSION: 'v26.0',
    PLATFORM_CREDENTIALS_SECRET: 'platform-credentials',
    PERSON_KEY_SECRET: 'person-key',
  };

  /**
   * Imports the bundle once for each environment, in a process of its own. Returns the type of each handler, or the
   * error message.
   */
  async function started(environments: readonly Readonly<Record<string, string>>[]): Promise<string[]> {
    const bundle = pathToFileURL(join(outputDirectory, 'functions', 'messages-send', 'index.mjs')).href;
    const script = `
      const given = { ...process.env };
      const outcomes = [];
      for (const [turn, environment] of ${JSON.stringify(environments)}.entries()) {
        process.env = { ...given, ...environment };
        const outcome = import(${JSON.stringify(bundle)} + '?' + turn);
        outcomes.push(await outcome.then(({ handler }) => typeof handler, ({ message }) => message));
      }
      console.log(JSON.stringify(outcomes));`;
    const env = { PATH: process.env['PATH'], AWS_REGION: 'us-east-1' };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env });
    return JSON.parse(stdout);
  }
  const running = { AWS_LAMBDA_FUNCTION_NAME: 'messages-send', ...variables };

  it('exports a handler on Lambda, and none when a test imports the page', async () => {
    expect(await started([running, {}])).toEqual(['function', 'undefined']);
  });

  it('stops without any of its variables, and says which', async () => {
    const names = Object.keys(variables);
    expect(await started(names.map((name) => ({ ...running, [name]: '' })))).toEqual(
      names.map((name) => `environment variable ${name} is not set`),
    );
  });
});

it('starts login on a Node.js that was built without argon2, and says so', async () => {
  const bundle = pathToFileURL(join(outputDirectory, 'functions', 'login', 'index.mjs')).href;
  const script = [
    "delete require('node:crypto').argon2;",
    "require('node:module').syncBuiltinESMExports();",
    `import(${JSON.stringify(bundle)}).then(({ handler }) => console.log(typeof handler));`,
  ].join('\n');
  const names = [
    'CREDENTIALS_TABLE',
    'DIRECTORY_TABLE',
    'TOKEN_ISSUER',
    'TOKEN_AUDIENCE',
    'TOKEN_SIGNING_KEYS_SECRET',
    'AUDIT_TABLE',
  ];
  const env = {
    ...{ PATH: process.env['PATH'], AWS_REGION: 'us-east-1', AWS_LAMBDA_FUNCTION_NAME: 'login' },
    ...Object.fromEntries(names.map((name) => [name, 'some'])),
  };
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { env });
  const [line = '', handler] = stdout.trim().split('\n');
  expect([JSON.parse(line).event, handler]).toEqual(['login.argon2_missing', 'function']);
});

it('leaves out what only the local stack knows: no bundle has an exception for a receiver inside (R40)', () => {
  const bundles = names.map((name) => readFileSync(join(outputDirectory, 'functions', name, 'index.mjs'), 'utf8'));
  expect(bundles.filter((code) => code.includes('TRUSTED_RECEIVER'))).toEqual([]);
  expect(bundles.filter((code) => code.includes('WEBHOOKS_TABLE')).length).toBeGreaterThan(0);
});

it('makes bundles that need Node.js alone: nothing is outside but what the SDK never imports', () => {
  const { inputs, outputs } = JSON.parse(readFileSync(join(outputDirectory, 'meta', 'functions.json'), 'utf8'));
  const importsOf = (files: object) => Object.values(files).flatMap(({ imports }): Import[] => imports);
  const outside = importsOf(outputs).filter(({ path }) => !isBuiltin(path));
  expect(new Set(outside.map(({ kind, path }) => `${kind} ${path}`))).toEqual(
    new Set(sdkNeverImports.map((path) => `dynamic-import ${path}`)),
  );
  const bundled = new Set(Object.values<{ inputs: object }>(outputs).flatMap(({ inputs }) => Object.keys(inputs)));
  const onDemand = importsOf(inputs).filter(({ kind, path }) => kind === 'dynamic-import' && bundled.has(path));
  expect(onDemand.map(({ path }) => path)).toEqual(['node_modules/@middy/http-multipart-body-parser/index.js']);
});

it.each(['health', 'authorizer'])('keeps the DynamoDB client out of %s', (name) => {
  const meta = JSON.parse(readFileSync(join(outputDirectory, 'meta', 'functions.json'), 'utf8'));
  const outputs: [string, { inputs: Record<string, unknown> }][] = Object.entries(meta.outputs);
  const [, output] = outputs.find(([path]) => path.endsWith(`functions/${name}/index.mjs`)) ?? [];
  expect(Object.keys(output?.inputs ?? {})).toContainEqual(expect.stringContaining(`functions/${name}.ts`));
  expect(JSON.stringify(output?.inputs)).not.toMatch(/client-dynamodb|lib-dynamodb/);
});

it('keeps source maps out of what is deployed, where the bundle and its copy in a synthesized app find them', () => {
  for (const name of names) {
    expect(readdirSync(join(outputDirectory, 'functions', name))).toEqual(['index.mjs']);
    const [, place] = /\/\/# sourceMappingURL=(\S+)\n$/.exec(bundleOf(name)) ?? [];
    expect(place).toBe(`../../source-maps/${name}/index.mjs.map`);
    const { sources } = JSON.parse(readFileSync(join(outputDirectory, 'functions', name, place ?? ''), 'utf8'));
    const found = sources.map((source: string) => resolve(outputDirectory, 'functions', name, source));
    expect(found).toContain(join(functionsDirectory, `${name}.ts`));
  }
});

it('makes stack traces name the lines of the sources', () => {
  const event = JSON.stringify({});
  const file = pathToFileURL(join(outputDirectory, 'functions', 'authorizer', 'index.mjs')).href;
  const script = `try { await (await import(${JSON.stringify(file)})).handler(${event}, {}); } catch (error) { console.log(error.stack); }`;
  const run = spawnSync(process.execPath, ['--enable-source-maps', '--input-type=module', '-e', script], {
    encoding: 'utf8',
    // The handler is wired only on Lambda, and without its variables this throws.
    env: { PATH: process.env['PATH'], AWS_LAMBDA_FUNCTION_NAME: 'authorizer' },
  });
  expect(run.stdout + run.stderr).toMatch(/\/(functions|lib)\/[\w/-]+\.ts:\d+:\d+/);
});

interface Import {
  readonly path: string;
  readonly kind: string;
}

function bundleOf(name: string): string {
  return readFileSync(join(outputDirectory, 'functions', name, 'index.mjs'), 'utf8');
}
