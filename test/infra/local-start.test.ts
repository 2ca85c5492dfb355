import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type DynamoDbEngine, dynamoDbEngines, dynoxideProgram } from '../../infra/local/dynamodb.ts';
import { findLocalStack, localStacksFolder } from '../../infra/operate/local-stacks.ts';
import { runnableProjects } from '../support/engines.ts';
import { descendantsOf, isAlive, runScript, type ScriptRun } from '../support/processes.ts';

const anyPorts = {
  PORT: '0',
  PLATFORM_PORT: '0',
  AWS_ENDPOINT_URL_DYNAMODB: undefined,
  AWS_ENDPOINT_URL_SQS: undefined,
  DATA: undefined,
};

// A test that fails must not leave its stack running beside the other tests.
const runs: ScriptRun[] = [];
afterEach(async () => {
  for (const { child, ended } of runs.splice(0)) {
    child.kill('SIGTERM');
    await ended;
  }
});

function start(environment: Readonly<Record<string, string | undefined>> = {}): ScriptRun & { readonly pid: number } {
  const run = runScript('infra/local/start.ts', { environment: { ...anyPorts, ...environment } });
  runs.push(run);
  return { ...run, pid: run.child.pid ?? 0 };
}

async function listening(): Promise<{ port: string; close: () => void }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return { port: String(typeof address === 'object' ? address?.port : ''), close: () => server.close() };
}

const engineProcesses: Readonly<Record<DynamoDbEngine, { process: RegExp; sentence: string }>> = {
  local: { process: /DynamoDBLocal/, sentence: 'DynamoDB Local ended with SIGKILL.' },
  dynoxide: { process: /dynoxide --host/, sentence: 'Dynoxide ended with SIGKILL.' },
};

function canRun(engine: DynamoDbEngine): boolean {
  return Object.values(runnableProjects()).includes(engine);
}

/** Returns the first page of a demo client's templates, after a synchronization on request. */
async function listed(apiUrl: string, synchronizing: boolean): Promise<{ readonly total: number }> {
  const body = JSON.stringify({ username: 'supervisor1001', password: 'demo-supervisor1001' });
  const login = (await (await fetch(`${apiUrl}/login`, { method: 'POST', body })).json()) as { access_token: string };
  const headers = { authorization: `Bearer ${login.access_token}`, 'content-type': 'application/json' };
  if (synchronizing) await fetch(`${apiUrl}/v1/templates/sync-from-platform`, { method: 'POST', headers, body: '{}' });
  const page = async () =>
    (await (await fetch(`${apiUrl}/v1/templates?campaign_name=Unassigned`, { headers })).json()) as { total: number };
  if (synchronizing) await expect.poll(async () => (await page()).total, { timeout: 10_000 }).toBeGreaterThan(0);
  return page();
}

/** A grandchild such as the bundler notices a little later that its parent has ended. */
async function expectGone(processes: ReturnType<typeof descendantsOf>): Promise<void> {
  expect(processes.length).toBeGreaterThan(0);
  await expect.poll(() => processes.filter(({ pid }) => isAlive(pid)), { timeout: 20_000 }).toEqual([]);
}

/** Kills a process that the stack needs: the stack must end, print the reason, and leave no process behind. */
async function expectEndedBy(crash: RegExp, sentence: string, { pid, ended }: ReturnType<typeof start>): Promise<void> {
  const descendants = descendantsOf(pid);
  process.kill(descendants.find(({ command }) => crash.test(command))?.pid ?? 0, 'SIGKILL');
  const { code, stdout, stderr } = await ended;
  expect(code).toBe(1);
  expect(stdout).not.toContain('undefined');
  expect(stderr).toContain(`${sentence} The local stack was ended.`);
  await expectGone(descendants);
}

describe('npm start says in one sentence why it cannot start', () => {
  it.each(['PORT', 'PLATFORM_PORT'])('when %s is taken', async (variable) => {
    const { port, close } = await listening();
    const { code, stdout, stderr } = await start({ [variable]: port }).ended;
    close();
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `Port ${port} is already in use: free it, or choose another one with ${variable}=<port>.\n`,
    });
  });

  it('when PORT is no number', async () => {
    const { code, stderr } = await start({ PORT: 'abc' }).ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'PORT must be a port number from 0 (any free one) to 65535, not "abc".\n',
    });
  });

  it('when both ports are the same', async () => {
    const { port, close } = await listening();
    close();
    const { code, stdout, stderr } = await start({ PORT: port, PLATFORM_PORT: port }).ended;
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `PORT and PLATFORM_PORT are both ${port}: the API and the simulator need one each.\n`,
    });
  });

  it.each(['AWS_ENDPOINT_URL_DYNAMODB', 'AWS_ENDPOINT_URL_SQS'])('when nothing answers at %s', async (variable) => {
    const { port, close } = await listening();
    close();
    for (const endpoint of [`http://127.0.0.1:${port}`, `127.0.0.1:${port}`, 'somewhere']) {
      const { code, stdout, stderr } = await start({ [variable]: endpoint }).ended;
      expect({ code, stdout, stderr }).toEqual({
        code: 1,
        stdout: '',
        stderr: `No server answers at ${variable}=${endpoint}: start it, or leave the variable out.\n`,
      });
    }
  });

  it.each([
    [
      { CORS_ORIGINS: 'https://app.example.com/' },
      /^CORS_ORIGINS must be origins apart by commas, .* "https:\/\/app\.example\.com\/" is none\.\n$/,
    ],
    [{ DYNAMODB: 'mysql' }, 'DYNAMODB must be dynoxide or local, not "mysql".\n'],
    [
      { DEBUG_FUNCTION: 'template-list' },
      /^DEBUG_FUNCTION=template-list is no function: it is one of .*templates-list, /,
    ],
  ])('when it is asked for %o', async (environment, sentence) => {
    const { code, stdout, stderr } = await start(environment).ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toEqual(typeof sentence === 'string' ? sentence : expect.stringMatching(sentence));
  });

  it('when an option is unknown', async () => {
    const run = runScript('infra/local/start.ts', { arguments: ['--wach'], environment: anyPorts });
    expect(await run.ended).toMatchObject({ code: 2, stderr: expect.stringContaining("'--wach'") });
  });
});

// A start takes seconds, or a minute on a busy machine: one start serves as many tests as possible.
describe('npm start on this machine', () => {
  it.each(dynamoDbEngines.filter(canRun))(
    'keeps its tables in a folder with %s, starts on them again, and ends when that crashes',
    async (engine) => {
      const folder = mkdtempSync(join(tmpdir(), 'data-'));
      const startOn = async (synchronizing: boolean) => {
        const run = start({ DATA: folder, DYNAMODB: engine, QUIET: '1' });
        const apiUrl = (await run.line(/^ready http/)).replace('ready ', '');
        await run.line(/^tables are kept in .*data-.*; queues start empty$/);
        expect((await listed(apiUrl, synchronizing)).total).toBeGreaterThan(0);
        return run;
      };
      const first = await startOn(true);
      first.child.kill('SIGTERM');
      const { code, stderr } = await first.ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const { process: crash, sentence } = engineProcesses[engine];
      await expectEndedBy(crash, sentence, await startOn(false));
      rmSync(folder, { recursive: true });
    },
    180_000,
  );

  it('stands beside another; each is found until it ends, by a crash or by a Ctrl-C that terminal and npm deliver', async () => {
    // Dynoxide needs neither Java nor anything else on the PATH.
    const path = dynoxideProgram() === undefined ? {} : { PATH: '/nowhere' };
    const first = start({ ...path, CORS_ORIGINS: 'https://app.example.com' });
    const apiUrl = (await first.line(/^ready http/)).slice('ready '.length);
    const second = start();
    const secondUrl = (await second.line(/^ready http/)).slice('ready '.length);
    const found = () => [apiUrl, secondUrl].map((url) => findLocalStack(localStacksFolder, new URL(url).port)?.pid);
    expect(found()).toEqual([first.pid, second.pid]);
    await expectEndedBy(/simulator\/src\/main/, 'The platform simulator ended with SIGKILL.', second);
    expect(found()).toEqual([first.pid, undefined]);

    const line = await first.line(/^export /);
    expect(line).toMatch(
      new RegExp(`^export PORT=${new URL(apiUrl).port} API=${apiUrl} PLATFORM=http://127.0.0.1:\\d+$`),
    );
    const origin = 'https://app.example.com';
    const health = await fetch(`${apiUrl}/health`, { headers: { origin } });
    expect([health.headers.get('access-control-allow-origin'), await health.text()]).toEqual([
      origin,
      '{"status":"ok"}',
    ]);
    await fetch(`${apiUrl}/login`, { method: 'POST', body: '{"username":"agent1001","password":"wrong"}' });
    await fetch(`${apiUrl}/login?secret=1`, { method: 'POST', body: '{' });
    await first.line(/^POST \/login 400 malformed_body \d+ ms$/);
    const descendants = descendantsOf(first.pid);
    expect(descendants.map(({ command }) => command).join('\n')).toMatch(/runner-child/);
    // A terminal signals the whole process group, and npm's wrapper signals the script again.
    for (const { pid } of descendants) process.kill(pid, 'SIGINT');
    first.child.kill('SIGINT');
    first.child.kill('SIGINT');
    const { code, stdout } = await first.ended;
    expect(code).toBe(0);
    await expectGone(descendants);
    expect(found()).toEqual([undefined, undefined]);
    // The console shows requests and function logs, but neither metrics nor queries.
    expect(stdout).toMatch(/^POST \/login 401 \d+ ms$/m);
    expect(stdout).not.toMatch(/_aws|LoginFailures|secret=1/);
  }, 180_000);

  it.each([
    ['SIGINT', 300],
    ['SIGTERM', 1_500],
    ['SIGTERM', 4_000],
  ] as const)('leaves no process behind after %s in the middle of starting, at %i ms', async (signal, afterMs) => {
    const run = start();
    await run.line(/^building and starting/);
    await expect.poll(() => descendantsOf(run.pid).length, { timeout: 20_000 }).toBeGreaterThan(0);
    await pause(afterMs);
    const descendants = descendantsOf(run.pid);
    run.child.kill(signal);
    const { code, stderr } = await run.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    await expectGone(descendants);
  });
});
