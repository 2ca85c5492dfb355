import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildFunctions, sdkNeverImports } from '../../infra/build.ts';

const functionsDirectory = resolve(import.meta.dirname, '..', '..', 'functions');
let outputDirectory: string;
let names: string[];

beforeAll(async () => {
  outputDirectory = mkdtempSync(join(tmpdir(), 'build-'));
  mkdirSync(join(outputDirectory, 'functions', 'gone'), { recursive: true });
  writeFileSync(join(outputDirectory, 'local-stacks.json'), '{}');
  names = await buildFunctions({ functionsDirectory, outputDirectory });
});

afterAll(() => rmSync(outputDirectory, { recursive: true, force: true }));

it('makes one bundle for each file in functions/, and clears away older ones but nothing else', () => {
  const files = readdirSync(functionsDirectory).filter((file) => file.endsWith('.ts'));
  expect(names.map((name) => `${name}.ts`).sort()).toEqual(files.sort());
  expect(readdirSync(join(outputDirectory, 'functions')).sort()).toEqual([...names].sort());
  expect(existsSync(join(outputDirectory, 'local-stacks.json'))).toBe(true);
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
    SEND_JOB_QUEUE_URL: 'http://127.0.0.1:1/send-jobs',
    DISPATCH_QUEUE_URL: 'http://127.0.0.1:1/dispatch',
    URGENT_QUEUE_URL: 'http://127.0.0.1:1/urgent',
    PLATFORM_BASE_URL: 'http://127.0.0.1:1',
    PLATFORM_VERSION: 'v26.0',
    PLATFORM_CREDENTIALS_SECRET: 'platform-credentials',
  };

  /** Imports the bundle in a process of its own; the type of its handler, or the message of what went wrong. */
  async function started(environment: Readonly<Record<string, string>>): Promise<string> {
    const bundle = pathToFileURL(join(outputDirectory, 'functions', 'messages-send', 'index.mjs')).href;
    const script = `import(${JSON.stringify(bundle)}).then(({ handler }) => typeof handler, ({ message }) => message).then(console.log)`;
    const env = { PATH: process.env['PATH'], AWS_REGION: 'us-east-1', ...environment };
    return (await promisify(execFile)(process.execPath, ['-e', script], { env })).stdout.trim();
  }
  const running = { AWS_LAMBDA_FUNCTION_NAME: 'messages-send' };

  it('has its handler where a function runs, and nothing where a test imports the page', async () => {
    expect(await started({ ...running, ...variables })).toBe('function');
    expect(await started({})).toBe('undefined');
  });

  it.each(Object.keys(variables))('stops without %s, and says so', async (name) => {
    expect(await started({ ...running, ...variables, [name]: '' })).toBe(`environment variable ${name} is not set`);
  });
});

it('starts login on a Node.js that was built without argon2, and says so', async () => {
  const bundle = pathToFileURL(join(outputDirectory, 'functions', 'login', 'index.mjs')).href;
  const script = [
    "delete require('node:crypto').argon2;",
    "require('node:module').syncBuiltinESMExports();",
    `import(${JSON.stringify(bundle)}).then(({ handler }) => console.log(typeof handler));`,
  ].join('\n');
  const names = ['CREDENTIALS_TABLE', 'DIRECTORY_TABLE', 'TOKEN_ISSUER', 'TOKEN_AUDIENCE', 'TOKEN_SIGNING_KEYS_SECRET'];
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
  const outside = importsOf(outputs).filter(({ path }) => !path.startsWith('node:'));
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
    // Wired as where it runs, and without its variables: it throws.
    env: { PATH: process.env['PATH'], AWS_LAMBDA_FUNCTION_NAME: 'authorizer' },
  });
  expect(run.stdout + run.stderr).toMatch(/\/(functions|lib)\/[\w/-]+\.ts:\d+:\d+/);
});

it('makes bundles that a debugger can show, when asked to', async () => {
  const readable = mkdtempSync(join(tmpdir(), 'build-readable-'));
  await buildFunctions({ functionsDirectory, outputDirectory: readable, readable: true });
  expect(readFileSync(join(readable, 'functions', 'health', 'index.mjs'), 'utf8')).toMatch(/publicEndpoint/);
  expect(bundleOf('health')).not.toMatch(/publicEndpoint/);
  rmSync(readable, { recursive: true, force: true });
});

interface Import {
  readonly path: string;
  readonly kind: string;
}

function bundleOf(name: string): string {
  return readFileSync(join(outputDirectory, 'functions', name, 'index.mjs'), 'utf8');
}
