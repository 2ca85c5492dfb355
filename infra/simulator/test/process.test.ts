import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { simulatorAtRest } from './support/simulator.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

function start(port: string, more: { readonly args?: readonly string[]; readonly seed?: string } = {}) {
  const env = { ...process.env, PLATFORM_PORT: port, PLATFORM_SEED: more.seed ?? '' };
  const child = spawn(process.execPath, [main, ...(more.args ?? [])], { env });
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

test('another world than the demo, from a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'seed-'));
  const seed = join(folder, 'seed.json');
  const waba = { node: { id: '70001', name: 'Mine' }, phone_numbers: [], product_catalogs: [], templates: [] };
  writeFileSync(seed, JSON.stringify({ tokens: [{ token: 'mine', waba_ids: ['70001'] }], wabas: [waba] }));
  const simulator = start('0', { seed });
  const url = (await simulator.ready).slice('platform '.length).trim();
  expect(await (await fetch(`${url}/v25.0/70001?fields=name&access_token=mine`)).json()).toMatchObject({
    name: 'Mine',
  });
  simulator.child.kill();
  await simulator.ended;
  writeFileSync(seed, JSON.stringify({ tokens: [], wabas: [{ ...waba, node: { id: 'x', name: '' } }] }));
  const wrong = start('0', { seed });
  expect(await wrong.ended).toBe(1);
  expect(wrong.err.join('')).toBe('PLATFORM_SEED cannot be read: wabas.0.node.id: must be 5 to 16 digits\n');
  rmSync(folder, { recursive: true });
});

test('--help says what it takes; anything else is refused with that', async () => {
  const [asked, strange] = [start('0', { args: ['--help'] }), start('0', { args: ['3001'] })];
  expect([await asked.ended, await strange.ended]).toEqual([0, 2]);
  expect(asked.out.join('')).toContain('PLATFORM_SEED');
  expect(strange.err.join('')).toBe(asked.out.join(''));
});
