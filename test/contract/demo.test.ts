import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addressOf } from '../support/addresses.ts';
import { platform } from '../support/api.ts';
import { tellAt } from '../support/callback.ts';
import { runScript } from '../support/processes.ts';
import { noteRunningStack } from '../support/running-target.ts';

const folder = mkdtempSync(join(tmpdir(), 'demo-'));
const stackFile = join(folder, 'stack.json');

beforeAll(async () => {
  noteRunningStack(stackFile);
  await tellAt(addressOf('platformUrl'), `${addressOf('apiUrl')}/platform/webhook`);
});

afterEach(async () => {
  // Faults that a run prepares and does not use must not affect the messages of other tests.
  for (const what of ['faults', 'receipts']) await platform(`DELETE /_control/${what}`);
});

afterAll(async () => {
  await tellAt(addressOf('platformUrl'), null);
  rmSync(folder, { recursive: true });
});

/** Runs the demo, and returns the counts of its last lines. */
async function demo() {
  const { code, stdout, stderr } = await runScript('infra/local/demo.ts', { arguments: ['--stack', stackFile] }).ended;
  const lines = stdout.split('\n').map((line) => line.trim().split(/\s+/));
  const at = lines.findIndex(([first]) => first === 'total');
  const [names = [], values = []] = [lines[at], lines[at + 1]];
  const { seconds, ...table } = Object.fromEntries(names.map((name, column) => [name, Number(values[column])]));
  return { code, table, seconds, stdout, stderr };
}

const none = { pending: 0, sent: 0, delivered: 0, expired: 0, unknown: 0 };

describe('npm run demo', () => {
  test('sends to 1,000 recipients; some fail at once or later, some are held, a receipt settles the lost one', async () => {
    const { code, table, seconds, stdout, stderr } = await demo();
    expect({ code, stderr }).toEqual({ code: 0, stderr: `the local stack at ${addressOf('apiUrl')}\n` });
    expect(table).toEqual({ ...none, total: 1_000, held: 1, read: 993, failed: 6 });
    expect(seconds).toEqual(expect.any(Number));
    // The demo prints the report while it runs: all are pending first, and one is unknown for a while.
    expect(stdout).toMatch(/^pending 1000 /m);
    expect(stdout).toMatch(/^pending .* unknown {4}1 +\d+ messages\/s$/m);
    expect(stdout).toMatch(/^15550131049 +taken, failed later +failed +131049 +\S/m);
    expect(stdout).toMatch(/^One answer was lost \(15550000200\).*unknown, .*read\.$/m);
  }, 180_000);

  test('run again, ends with status 1 when the platform refuses some', async () => {
    await platform('POST /_control/faults', { match: { path: '/messages' }, action: { code: 131026 }, times: 3 });
    const { code, table, stderr } = await demo();
    expect(code).toBe(1);
    expect(table['total']).toBe(1_000);
    expect(stderr).toContain('messages ended otherwise than they should:');
    expect(stderr).toMatch(/^\d+ is failed \(131026\), not /m);
  }, 900_000);
});
