import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutCommand, paginateScan } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TableName, tables } from '../../infra/tables.ts';
import { clientKey } from '../../lib/access/directory-items.ts';
import { acceptanceFiles } from '../acceptance/files.ts';
import { acceptanceIds } from '../acceptance/ids.ts';
import { addressOf } from '../support/addresses.ts';
import { synchronize } from '../support/api.ts';
import { runScript } from '../support/processes.ts';
import { noteRunningStack, runningTarget } from '../support/running-target.ts';

/* `infra/ops check --acceptance` runs against a stack that clients use already. */

const folder = mkdtempSync(join(tmpdir(), 'acceptance-'));
const file = join(folder, 'stack.json');
const { documentClient, tableName } = runningTarget();

beforeAll(async () => {
  noteRunningStack(file);
  await synchronize('supervisor1001');
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (apiUrl: string, ...given: string[]) => {
  const environment = { VITEST_POOL_ID: undefined, VITEST_WORKER_ID: undefined, VITEST: undefined };
  return runScript('infra/operate/ops.ts', {
    arguments: ['check', '--acceptance', '--api', apiUrl, ...given],
    environment,
  }).ended;
};

const ownIds = [acceptanceIds.clients, acceptanceIds.wabas].flatMap((ids) => Object.values(ids).map(String));

/** What files before this one have caused may still be delivered or read again, for other clients and WABAs. */
const mayBeUnderWay = (pk: string, sk: string) =>
  (sk === 'DELIVERY' || sk === 'HINTS') && !ownIds.some((id) => pk.endsWith(`#${id}`));

/**
 * Returns all stored items by key. Counters of wrong passwords and synchronizations expire by themselves and are left
 * out, as is what may be under way, and the hour that sweeps have reached.
 */
async function everything(): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const table of Object.keys(tables) as TableName[]) {
    for await (const { Items = [] } of paginateScan({ client: documentClient }, { TableName: tableName(table) })) {
      for (const item of Items) {
        const { pk, sk, expiresAtSeconds } = item;
        if (expiresAtSeconds !== undefined || /^(?:LOCK#|WALK#|LATER$)/.test(pk) || mayBeUnderWay(pk, sk)) continue;
        found[`${table} ${pk} ${sk}`] = item;
      }
    }
  }
  return found;
}

test('it is green, and leaves every table as it was', { timeout: 600_000 }, async () => {
  const before = await everything();
  expect(Object.keys(before).length).toBeGreaterThan(20);
  const { code, stdout, stderr } = await run(addressOf('apiUrl'), '--stack', file);
  expect(code, `${stdout}${stderr}`).toBe(0);
  expect(stdout).toMatch(new RegExp(`Test Files .*\\D${acceptanceFiles.length} passed`));
  expect(await everything()).toEqual(before);
});

test('an address that is not that of the stack, or that nothing answers, is refused before anything is written', async () => {
  const before = await everything();
  const other = await run('http://127.0.0.1:9', '--stack', file);
  expect(other).toMatchObject({ code: 2, stdout: '' });
  expect(other.stderr).toContain('No local stack runs at http://127.0.0.1:9');
  expect((await run(addressOf('apiUrl'), '--stage', 'Not A Stage')).code).toBe(2);
  expect(await everything()).toEqual(before);
});

test('what a run that was killed has left goes with --clean, and what is not its own stops it', async () => {
  const before = await everything();
  const put = (Item: Record<string, unknown>) =>
    documentClient.send(new PutCommand({ TableName: tableName('directory'), Item }));
  const item = { ...clientKey(acceptanceIds.clients.andes), clientId: acceptanceIds.clients.andes };
  await put({ ...item, name: 'Somebody' });
  const refused = await run(addressOf('apiUrl'), '--stack', file, '--clean');
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain(`Nothing was done: not of an acceptance run: client ${acceptanceIds.clients.andes}`);
  await put({ ...item, name: 'Acceptance: Andes Retail' });
  expect(await run(addressOf('apiUrl'), '--stack', file, '--clean')).toMatchObject({ code: 0 });
  expect(await everything()).toEqual(before);
});
