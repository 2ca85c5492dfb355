import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { platform } from '../support/api.ts';
import { runScript } from '../support/processes.ts';
import { noteRunningStack } from '../support/running-target.ts';

const folder = mkdtempSync(join(tmpdir(), 'demo-'));
const stackFile = join(folder, 'stack.json');

beforeAll(() => noteRunningStack(stackFile));

afterEach(async () => {
  await fetch(`${inject('platformUrl')}/_control/faults`, { method: 'DELETE' });
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the demo and reads the table that it ends with. */
async function demo() {
  const { code, stdout, stderr } = await runScript('infra/local/demo.ts', { arguments: ['--stack', stackFile] }).ended;
  const [names = [], values = []] = stdout
    .split('\n')
    .filter((line) => /^\s*(accepted\b|\d+\s+\d+\s+\d)/.test(line))
    .map((line) => line.trim().split(/\s+/));
  const table = Object.fromEntries(names.map((name, column) => [name, Number(values[column])]));
  return { code, table, stdout, stderr };
}

describe('npm run demo', () => {
  test('sends to 1,000 recipients, each once', async () => {
    const { code, table, stderr } = await demo();
    expect({ code, stderr }).toEqual({ code: 0, stderr: `the local stack at ${inject('apiUrl')}\n` });
    const seconds = expect.any(Number);
    expect(table).toEqual({ accepted: 1_000, sent: 1_000, held: 0, failed: 0, unknown: 0, duplicates: 0, seconds });
  }, 120_000);

  test('run again, ends with status 1 when the platform refuses some', async () => {
    await platform('POST /_control/faults', { match: { path: '/messages' }, action: { code: 131026 }, times: 3 });
    const { code, table, stderr } = await demo();
    expect(code).toBe(1);
    expect(table).toMatchObject({ accepted: 1_000, sent: 997, failed: 3, unknown: 0, duplicates: 0 });
    expect(stderr).toContain('3 recipients got nothing: 3 failed, 0 unknown.');
  }, 120_000);
});
