import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { FunctionLogLine } from '../../infra/local/instance.ts';
import { isAlive } from '../support/processes.ts';
import { payloadOf, runnersOfFile } from '../support/runners.ts';

const { functions, makeRunner } = runnersOfFile();

describe('an instance', () => {
  it('is a process of its own that is used again', async () => {
    const runner = makeRunner();
    const first = await payloadOf(runner, 'echo', { a: 1 });
    const second = await payloadOf(runner, 'echo', { b: 'ü' });
    expect(first).toMatchObject({ event: { a: 1 }, calls: 1 });
    expect(second).toEqual({ event: { b: 'ü' }, calls: 2, pid: first['pid'] });
    expect(first['pid']).not.toBe(process.pid);
    expect(runner.instances()).toEqual([{ functionId: 'echo', pid: first['pid'], busy: false }]);
  });

  it('sees the environment of the template and of the runtime, and nothing of ours', async () => {
    process.env['LEAK_PROBE'] = 'must not be seen';
    const runner = makeRunner({ environment: { AWS_REGION: 'eu-west-1', AWS_ENDPOINT_URL_SQS: 'http://stack' } });
    const { env, cwd, execArgv } = await payloadOf(runner, 'environment');
    delete process.env['LEAK_PROBE'];
    expect(Object.keys(env as object).toSorted()).toEqual([
      'AWS_ENDPOINT_URL_SQS',
      'AWS_EXECUTION_ENV',
      'AWS_LAMBDA_FUNCTION_MEMORY_SIZE',
      'AWS_LAMBDA_FUNCTION_NAME',
      'AWS_LAMBDA_FUNCTION_VERSION',
      'AWS_LAMBDA_LOG_GROUP_NAME',
      'AWS_LAMBDA_LOG_STREAM_NAME',
      'AWS_REGION',
      'LAMBDA_TASK_ROOT',
      'LANG',
      'PATH',
      'TABLE',
      'TZ',
      '_HANDLER',
    ]);
    expect(env).toMatchObject({ AWS_REGION: 'eu-west-1', TABLE: 'things', AWS_ENDPOINT_URL_SQS: 'template wins' });
    expect(cwd).toBe(functions['environment']?.codeDirectory);
    expect(execArgv).toEqual(['--max-semi-space-size=9', '--max-old-space-size=173']);
  });

  it('gets its context and its remaining time', async () => {
    const context = await payloadOf(makeRunner(), 'context');
    expect(context).toMatchObject({
      functionName: 'tiny-context',
      functionVersion: '$LATEST',
      memoryLimitInMB: '128',
      awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      logGroupName: '/aws/lambda/tiny-context',
    });
    expect(context['before']).toBeLessThanOrEqual(7_000);
    expect(context['before']).toBeGreaterThan(Number(context['after']));
  });

  it.each([1, 2])('never has two requests at a time, with a cap of %i', async (most) => {
    const runner = makeRunner({ maximumInstances: () => most });
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const payloads = await Promise.all(names.map((name) => payloadOf(runner, 'sequence', { name })));
    expect(payloads.map(({ most }) => most)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(new Set(payloads.map(({ pid }) => pid)).size).toBe(most);
  });

  it('serves those that wait in the order in which they came', async () => {
    const runner = makeRunner({ maximumInstances: () => 1 });
    const done: string[] = [];
    const names = ['a', 'b', 'c', 'd'];
    await Promise.all(names.map((name) => payloadOf(runner, 'sequence', { name }).then(() => done.push(name))));
    expect(done).toEqual(names);
  });
});

describe('a process without work', () => {
  it('ends after a while, and the next request has a fresh one', async () => {
    const runner = makeRunner({ idleMs: 50 });
    const { pid } = await payloadOf(runner, 'echo');
    await expect.poll(() => runner.instances(), { timeout: 20_000 }).toEqual([]);
    expect(isAlive(Number(pid))).toBe(false);
    expect(await payloadOf(runner, 'echo')).toMatchObject({ calls: 1, pid: expect.not.toBeOneOf([pid]) });
  });

  it('is only a process that is idle now: an earlier idle time does not count', async () => {
    const runner = makeRunner({ idleMs: 200 });
    await payloadOf(runner, 'hungry', { megabytes: 1 });
    expect(await runner.invoke('hungry', { megabytes: 1, millis: 600 })).toMatchObject({ ok: true });
  });

  it('ends first when it has been idle longest, while others have work', async () => {
    const runner = makeRunner({ maximumInstances: () => 2, idleMs: 1_000 });
    await Promise.all(['a', 'b'].map((name) => payloadOf(runner, 'sequence', { name })));
    const oneByOne = async () => {
      await payloadOf(runner, 'sequence', { name: 'c' });
      return runner.instances().length;
    };
    await expect.poll(oneByOne, { timeout: 20_000, interval: 20 }).toBe(1);
  });
});

describe('the time-out', () => {
  it.each(['slow', 'busy'])('kills %s, and the next request gets a fresh instance', async (functionId) => {
    const runner = makeRunner({ maximumInstances: () => 1 });
    const running = runner.invoke(functionId, { forever: true });
    const [instance] = runner.instances();
    expect(await running).toEqual({ ok: false, error: 'timeout', message: 'Task timed out after 0.30 seconds' });
    expect(isAlive(instance?.pid ?? 0)).toBe(false);
    expect(runner.instances()).toEqual([]);
  });

  it('counts from when the process begins to work, and not from when it was asked to', async () => {
    const runner = makeRunner();
    const { pid } = await payloadOf(runner, 'brief');
    process.kill(Number(pid), 'SIGSTOP');
    let began = false;
    const running = runner.invoke('brief', {}, () => {
      began = true;
    });
    await pause(1_500);
    expect(began).toBe(false);
    process.kill(Number(pid), 'SIGCONT');
    expect(await running).toEqual({ ok: true, payload: { pid } });
    expect(began).toBe(true);
  });

  it('accepts an answer that came in time, though this process was too busy to read it', async () => {
    const said = join(functions['brief']?.codeDirectory ?? '', 'said');
    const running = makeRunner().invoke('brief', { said }, () => {
      const endMs = performance.now() + 1_500;
      const clock = new Int32Array(new SharedArrayBuffer(4));
      while (!existsSync(said) || performance.now() < endMs) Atomics.wait(clock, 0, 0, 20);
    });
    expect(await running).toMatchObject({ ok: true });
  });

  it('does not touch what comes after', async () => {
    const runner = makeRunner({ maximumInstances: () => 1 });
    const [late, next] = await Promise.all([runner.invoke('slow', { forever: true }), payloadOf(runner, 'slow')]);
    expect(late).toMatchObject({ ok: false, error: 'timeout' });
    expect(next['pid']).toBe(runner.instances()[0]?.pid);
  });
});

describe('the memory of a function', () => {
  const killed = { ok: false, error: 'out_of_memory', message: 'Runtime exited with error: signal: killed' };

  it('is available except for the runtime’s own share', async () => {
    const runner = makeRunner({ maximumInstances: () => 1 });
    const first = await payloadOf(runner, 'hungry', { megabytes: 16 });
    expect((await payloadOf(runner, 'hungry', { megabytes: 16 }))['pid']).toBe(first['pid']);
  });

  it('is the limit of its process, which is killed while it runs', async () => {
    const lines: FunctionLogLine[] = [];
    const runner = makeRunner({ maximumInstances: () => 1, onLog: (line) => lines.push(line) });
    const { pid } = await payloadOf(runner, 'hungry', { megabytes: 1 });
    expect(await runner.invoke('hungry', { megabytes: 160, millis: 60_000 })).toEqual(killed);
    expect(isAlive(Number(pid))).toBe(false);
    expect(runner.instances()).toEqual([]);
    expect(lines).toMatchObject([{ stream: 'stderr', text: expect.stringContaining('passed its 128 MB') }]);
  });

  it('counts at its peak, however short', async () => {
    expect(await makeRunner().invoke('hungry', { megabytes: 160 })).toEqual(killed);
  });

  it('is its own: others live on, and the next request gets a fresh instance', async () => {
    const runner = makeRunner({ maximumInstances: () => 1 });
    const other = await payloadOf(runner, 'echo');
    const [tooMuch, next] = await Promise.all([
      runner.invoke('hungry', { megabytes: 160, millis: 60_000 }),
      payloadOf(runner, 'hungry', { megabytes: 1 }),
    ]);
    expect(tooMuch).toEqual(killed);
    expect(next['pid']).toBe(runner.instances().find(({ functionId }) => functionId === 'hungry')?.pid);
    expect((await payloadOf(runner, 'echo'))['pid']).toBe(other['pid']);
  });
});

describe('a failure', () => {
  it('of the handler is its message, and the instance lives on', async () => {
    const runner = makeRunner();
    const before = await payloadOf(runner, 'fragile');
    expect(await runner.invoke('fragile', { error: 'Unauthorized' })).toEqual({
      ok: false,
      error: 'threw',
      message: 'Unauthorized',
    });
    expect(await runner.invoke('fragile', { text: 'bare' })).toMatchObject({ error: 'threw', message: 'bare' });
    expect(await payloadOf(runner, 'fragile')).toEqual(before);
  });

  it.each(['exit', 'reject'])('by %s ends that instance only', async (how) => {
    const runner = makeRunner();
    const before = await payloadOf(runner, 'fragile');
    const other = await payloadOf(runner, 'echo');
    expect(await runner.invoke('fragile', { [how]: true })).toMatchObject({ ok: false, error: 'crashed' });
    expect((await payloadOf(runner, 'fragile'))['pid']).not.toBe(before['pid']);
    expect((await payloadOf(runner, 'echo'))['pid']).toBe(other['pid']);
  });

  it('by kill -9 from outside is a crash', async () => {
    const runner = makeRunner();
    await payloadOf(runner, 'echo');
    const running = runner.invoke('slow', { forever: true });
    const victim = runner.instances().find(({ functionId }) => functionId === 'slow');
    process.kill(victim?.pid ?? 0, 'SIGKILL');
    expect(await running).toEqual({ ok: false, error: 'crashed', message: 'the instance ended with SIGKILL' });
  });

  it.each(['broken', 'nameless'])('to load %s is a crash of every request', async (functionId) => {
    const runner = makeRunner();
    expect(await runner.invoke(functionId, {})).toMatchObject({ ok: false, error: 'crashed' });
    expect(await runner.invoke(functionId, {})).toMatchObject({ ok: false, error: 'crashed' });
    expect(runner.instances()).toEqual([]);
  });

  it('to serialize the answer is the error of the function', async () => {
    expect(await makeRunner().invoke('circular', {})).toMatchObject({ ok: false, error: 'threw' });
  });

  it('to find the function rejects the call', async () => {
    await expect(makeRunner().invoke('nobody', {})).rejects.toThrow('the template has no function nobody');
  });
});

describe('payload limits (R11)', () => {
  const limit = 6_291_556;
  const overhead = JSON.stringify({ text: '' }).length;

  it('takes an event of exactly the limit and no byte more', async () => {
    const runner = makeRunner();
    expect(await runner.invoke('weigh', { text: 'x'.repeat(limit - overhead) })).toEqual({
      ok: true,
      payload: limit - overhead,
    });
    expect(await runner.invoke('weigh', { text: `${'x'.repeat(limit - overhead - 1)}é` })).toMatchObject({
      ok: false,
      error: 'payload_too_large',
    });
  });

  it('takes a response of exactly the limit; one byte more is the error of the function', async () => {
    const runner = makeRunner();
    expect(await runner.invoke('weigh', { bytes: limit })).toMatchObject({ ok: true });
    expect(await runner.invoke('weigh', { bytes: limit + 1 })).toMatchObject({ ok: false, error: 'threw' });
  });
});

it('hands on every line with the name of the function', async () => {
  const lines: FunctionLogLine[] = [];
  const complete = Promise.withResolvers<void>();
  const runner = makeRunner({
    onLog: (line) => {
      lines.push(line);
      if (lines.length === 3) complete.resolve();
    },
  });
  await payloadOf(runner, 'talkative').catch(() => undefined);
  await complete.promise;
  const ofStream = (stream: string) => lines.filter((line) => line.stream === stream);
  expect(ofStream('stdout')).toMatchObject([{ functionName: 'tiny-talkative', text: 'one' }, { text: 'two' }]);
  expect(ofStream('stderr')).toEqual([{ functionName: 'tiny-talkative', stream: 'stderr', text: 'three' }]);
});

describe('a recycled function', () => {
  it('runs later requests in a fresh process', async () => {
    const runner = makeRunner();
    const before = await payloadOf(runner, 'echo');
    runner.recycle('echo');
    expect(await payloadOf(runner, 'echo')).toMatchObject({ calls: 1, pid: expect.not.toBeOneOf([before['pid']]) });
    runner.recycle('talkative');
    expect(runner.instances()).toHaveLength(1);
  });

  it('ends the requests under way in the process that they have', async () => {
    const runner = makeRunner({ maximumInstances: () => 1 });
    const running = payloadOf(runner, 'sequence', { name: 'old' });
    const [{ pid } = { pid: 0 }] = runner.instances();
    runner.recycle('sequence');
    expect(await running).toMatchObject({ name: 'old', pid });
    expect(await payloadOf(runner, 'sequence', { name: 'new' })).not.toMatchObject({ pid });
    await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false);
  });
});

describe('an inspected function', () => {
  it('has one process from the start, with an inspector, and neither a time-out nor a memory limit', async () => {
    const lines: string[] = [];
    const inspected = { functionId: 'late', port: 0 };
    const runner = makeRunner({ inspected, idleMs: 50, onLog: ({ text }) => lines.push(text) });
    const [{ pid } = { pid: 0 }] = runner.instances();
    await expect
      .poll(() => lines.join('\n'), { timeout: 20_000 })
      .toMatch(/Debugger listening on ws:\/\/127\.0\.0\.1:\d+/);
    const payloads = await Promise.all([payloadOf(runner, 'late'), payloadOf(runner, 'late')]);
    expect(payloads.map(({ leftMs }) => Number(leftMs) > 3_600_000)).toEqual([true, true]);
    // A function in a debugger also never stops for being idle.
    await payloadOf(runner, 'echo');
    await expect
      .poll(() => runner.instances(), { timeout: 20_000 })
      .toEqual([{ functionId: 'late', pid, busy: false }]);
    // The other functions keep their limits.
    expect(await runner.invoke('slow', { forever: true })).toMatchObject({ ok: false, error: 'timeout' });
  });

  it('is ready for a debugger again after it was recycled', async () => {
    const lines: string[] = [];
    const runner = makeRunner({ inspected: { functionId: 'late', port: 0 }, onLog: ({ text }) => lines.push(text) });
    const listening = () => lines.filter((text) => text.startsWith('Debugger listening')).length;
    await expect.poll(listening, { timeout: 20_000 }).toBe(1);
    runner.recycle('late');
    await expect.poll(listening, { timeout: 20_000 }).toBe(2);
  });
});

it('leaves no process behind, and ends what was running or waiting', async () => {
  const runner = makeRunner({ maximumInstances: () => 1 });
  await payloadOf(runner, 'echo');
  const running = runner.invoke('slow', { forever: true });
  const waiting = runner.invoke('slow', {});
  const pids = runner.instances().map(({ pid }) => pid);
  expect(pids).toHaveLength(2);
  await runner.stop();
  expect(pids.filter(isAlive)).toEqual([]);
  const ended = { ok: false, error: 'crashed', message: 'the local stack is stopping' };
  expect(await Promise.all([running, waiting, runner.invoke('echo', {})])).toEqual([ended, ended, ended]);
});
