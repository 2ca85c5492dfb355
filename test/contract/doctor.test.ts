import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { firstDayReads } from '../../infra/operate/stage/first-day.ts';
import { webhookFields } from '../../lib/platform/webhook/fields.ts';
import { addressOf } from '../support/addresses.ts';
import { platform } from '../support/api.ts';
import { demoApp } from '../support/platform-webhook.ts';
import { runScript } from '../support/processes.ts';
import { noteRunningStack, runningTarget } from '../support/running-target.ts';

const folder = mkdtempSync(join(tmpdir(), 'doctor-'));
const file = join(folder, 'stack.json');
const { secrets, secretName } = runningTarget();
const credentials = secretName('PLATFORM_CREDENTIALS_SECRET');
let provisioned: string;

/** Points the platform's app at the stack; other contract tests get no webhooks. */
const tell = (callback: { readonly callback_url: string | null; readonly fields: readonly string[] | null }) =>
  platform(`POST /_control/apps/${demoApp.appId}`, callback);
const callback_url = `${addressOf('apiUrl')}/platform/webhook`;

beforeAll(async () => {
  noteRunningStack(file);
  provisioned = (await secrets.read(credentials)) ?? '';
  await tell({ callback_url, fields: webhookFields });
});
afterAll(async () => {
  await tell({ callback_url: null, fields: null });
  await secrets.write(credentials, provisioned);
  rmSync(folder, { recursive: true });
});

const doctor = (...more: readonly string[]) =>
  runScript('infra/operate/ops.ts', { arguments: ['check', '--stack', file, ...more] }).ended;

test('a stack that is well: nothing but ✓ and what this machine does not have, status 0', async () => {
  const { code, stdout, stderr } = await doctor();
  expect(stdout.match(/^✓/gm)).toHaveLength(9);
  expect(stdout.match(/^– (?:stacks|alarms):/gm)).toHaveLength(2);
  expect(stdout).toMatch(/^9 good, 0 bad, 2 skipped$/m);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('fields that the app is not told are ✗ by their names, and so is an app without an address', async () => {
  await tell({ callback_url, fields: webhookFields.filter((field) => field !== 'account_update') });
  const { code, stdout } = await doctor();
  expect(stdout).toMatch(/^✗ webhook fields: .* is not told account_update; choose them/m);
  expect(code).toBe(1);
  await tell({ callback_url: null, fields: null });
  expect((await doctor()).stdout).toMatch(/^✗ webhook fields: .* has no address to call/m);
  await tell({ callback_url, fields: webhookFields });
});

test('the platform is as the facts say: each read agrees, and nothing is changed by any', async () => {
  const { stdout } = await doctor('--platform', '--waba', '200000000000001');
  expect(stdout.match(/^✓ FACTS [\d.]+,/gm)).toHaveLength(firstDayReads.length);
  expect(stdout).toMatch(/^[✓✗] facts about the platform: .* their review is due in \d{4}-\d{2}/m);
  const unknown = await doctor('--platform', '--waba', '299999999999999');
  expect(unknown.stdout).toMatch(/^✗ platform: the WABA 299999999999999 is not provisioned/m);
});

test('--json has all findings in one document', async () => {
  const { code, stdout } = await doctor('--json');
  const { findings, well } = JSON.parse(stdout);
  expect({ code, well, count: findings.length }).toEqual({ code: 0, well: true, count: 11 });
  expect(findings[0]).toEqual({ state: 'good', text: `the local stack at ${addressOf('apiUrl')}` });
});

test('a token that the platform refuses is ✗ with the remedy, and nothing of it is shown', async () => {
  const broken = JSON.parse(provisioned);
  broken.demo.accessToken = 'canary-token';
  await secrets.write(credentials, JSON.stringify(broken));
  const { code, stdout, stderr } = await doctor();
  expect(stdout).toMatch(/^✗ platform credential demo: .*refused/m);
  expect(stdout).toContain('provision a token');
  expect(`${stdout}${stderr}`).not.toContain('canary');
  expect(code).toBe(1);
});

test('a secret that cannot be read is said without a word of it; the other looks go on', async () => {
  await secrets.write(credentials, '{"demo": "canary"');
  const { code, stdout, stderr } = await doctor();
  expect(stdout).toMatch(
    /^✗ platform: what is stored in the secret template-messaging-local-platform-credentials are no/m,
  );
  expect(stdout).toMatch(/^✓ token keys/m);
  expect(`${stdout}${stderr}`).not.toContain('canary');
  expect(code).toBe(1);
});
