import { afterAll, afterEach } from 'vitest';
import { createRunner, type ProcessRunner, type RunnerOptions } from '../../infra/local/runner.ts';
import { tinyFunctions } from './tiny-functions.ts';

const count = 'let calls = 0;';
/** Makes small functions, each for one behaviour of a process: slow, hungry, broken, and so on. */
export const runnerFunctions = () =>
  tinyFunctions({
    echo: `${count} export const handler = async (event) => ({ event, pid: process.pid, calls: ++calls });`,
    environment: {
      code: 'export const handler = async () => ({ env: process.env, cwd: process.cwd(), execArgv: process.execArgv });',
      environment: { TABLE: 'things', AWS_ENDPOINT_URL_SQS: 'template wins' },
      memoryMb: 192,
    },
    context: {
      code: `export const handler = async (_event, context) => {
      const before = context.getRemainingTimeInMillis();
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { ...context, before, after: context.getRemainingTimeInMillis() };
    };`,
      timeoutSeconds: 7,
    },
    slow: {
      code: `export const handler = async (event) => {
      if (event.forever) await new Promise(() => setInterval(() => {}, 1000));
      return { pid: process.pid };
    };`,
      timeoutSeconds: 0.3,
    },
    brief: {
      code: `import { writeFileSync } from 'node:fs';
    export const handler = async ({ said }) => {
      if (said) setTimeout(() => writeFileSync(said, ''), 50);
      return { pid: process.pid };
    };`,
      timeoutSeconds: 1,
    },
    busy: { code: 'export const handler = async () => { for (;;); };', timeoutSeconds: 0.3 },
    fragile: `export const handler = async (event) => {
    if (event.exit) process.exit(3);
    if (event.reject) { Promise.reject(new Error('nobody awaits this')); await new Promise((r) => setTimeout(r, 500)); }
    if (event.error) throw new Error(event.error);
    if (event.text) throw event.text;
    return { pid: process.pid };
  };`,
    broken: 'export const handler = async () => "never"; throw new Error("cannot be imported");',
    nameless: 'export const other = async () => "never";',
    talkative: `export const handler = async () => { console.log('one\\ntwo'); console.error('three'); return null; };`,
    weigh:
      'export const handler = async (event) => event.bytes === undefined ? event.text.length : "x".repeat(event.bytes - 2);',
    circular: 'export const handler = async () => { const loop = {}; loop.loop = loop; return loop; };',
    hungry: `export const handler = async ({ megabytes, millis = 0 }) => {
      const held = Buffer.alloc(megabytes * 1024 * 1024, 1);
      await new Promise((resolve) => setTimeout(resolve, millis));
      return { pid: process.pid, held: held.length };
    };`,
    late: {
      code: `export const handler = async (_event, context) => {
      await new Promise((resolve) => setTimeout(resolve, 600));
      return { leftMs: context.getRemainingTimeInMillis(), held: Buffer.alloc(200 * 1024 * 1024, 1).length };
    };`,
      timeoutSeconds: 0.3,
    },
    sequence: `const running = []; let most = 0;
    export const handler = async ({ name }) => {
      running.push(name);
      most = Math.max(most, running.length);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running.pop();
      return { name, most, pid: process.pid };
    };`,
  });

/** Starts runners of these functions, which stop after each test of the file. */
export function runnersOfFile() {
  const tiny = runnerFunctions();
  const open: ProcessRunner[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((runner) => runner.stop()));
  });
  afterAll(tiny.remove);
  return {
    functions: tiny.functions,
    makeRunner: (overrides: Partial<RunnerOptions> = {}): ProcessRunner => {
      const runner = createRunner({
        functions: tiny.functions,
        environment: { AWS_REGION: 'us-east-1' },
        ...overrides,
      });
      open.push(runner);
      return runner;
    },
  };
}

/** Returns the payload of a successful invocation; throws for any other result. */
export async function payloadOf(runner: ProcessRunner, functionId: string, event: unknown = {}) {
  const result = await runner.invoke(functionId, event);
  if (!result.ok) throw new Error(`${functionId}: ${result.error}, ${result.message}`);
  return result.payload as Record<string, unknown>;
}
