import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { simulatorAtRest } from '../../support/simulator.ts';

const main = fileURLToPath(new URL('../../../infra/simulator/main.ts', import.meta.url));

function start(port: string) {
  const child = spawn(process.execPath, [main], { env: { ...process.env, PLATFORM_PORT: port } });
  const out: string[] = [];
  const err: string[] = [];
  const ready = new Promise<string>((resolve) => {
    child.stdout.on('data', (chunk) => {
      out.push(String(chunk));
      resolve(out.join(''));
    });
  });
  child.stderr.on('data', (chunk) => err.push(String(chunk)));
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return { child, ready, ended, out, err };
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  'one line when ready, gone on %s, hanging requests or not',
  async (signal) => {
    const simulator = start('0');
    const line = await simulator.ready;
    expect(line).toMatch(/^platform http:\/\/127\.0\.0\.1:\d+\n$/);
    const url = line.slice('platform '.length).trim();
    await fetch(`${url}/_control/faults`, { method: 'POST', body: '{"action":{"delay_ms":600000}}' });
    const hanging = fetch(`${url}/v25.0/1`).catch(() => 'closed');
    await expect
      .poll(async () => (await (await fetch(`${url}/_control/requests`)).json()) as object)
      .toMatchObject({ total: 1 });
    simulator.child.kill(signal);
    expect([await simulator.ended, await hanging]).toEqual([0, 'closed']);
    expect(simulator.out.join('')).toBe(line);
    expect(simulator.err.join('')).toBe('');
  },
);

test('a taken port: one clear sentence and status 1', async () => {
  const other = await simulatorAtRest();
  const port = new URL(other.url).port;
  const simulator = start(port);
  expect(await simulator.ended).toBe(1);
  expect(simulator.err.join('')).toBe(`port ${port} is taken: set PLATFORM_PORT to another one\n`);
  await other.stop();
});
