import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { firstDayReads } from '../../infra/operate/first-day.ts';
import { runScript } from '../support/processes.ts';
import { noteRunningStack, runningTarget } from '../support/running-target.ts';

const folder = mkdtempSync(join(tmpdir(), 'doctor-'));
const file = join(folder, 'stack.json');
const { secrets, secretName } = runningTarget();
const credentials = secretName('PLATFORM_CREDENTIALS_SECRET');
let provisioned: string;

beforeAll(async () => {
  noteRunningStack(file);
  provisioned = (await secrets.read(credentials)) ?? '';
});
afterAll(async () => {
  await secrets.write(credentials, provisioned);
  rmSync(folder, { recursive: true });
});

const doctor = (...more: readonly string[]) =>
  runScript('infra/operate/doctor.ts', { arguments: ['--stack', file, ...more] }).ended;

test('a stack that is well: nothing but ✓ and what this machine does not have, status 0', async () => {
  const { code, stdout, stderr } = await doctor();
  expect(stdout.match(/^✓/gm)).toHaveLength(7);
  expect(stdout.match(/^– (?:stacks|alarms):/gm)).toHaveLength(2);
  expect(stdout).toMatch(/^7 good, 0 bad, 2 skipped$/m);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('the platform is as the facts say: each read agrees, and nothing is changed by any', async () => {
  const { stdout } = await doctor('--platform', '--waba', '200000000000001');
  expect(stdout.match(/^✓ FACTS [\d.]+,/gm)).toHaveLength(firstDayReads.length);
  expect(stdout).toMatch(/^[✓✗] facts about the platform: .* their review is due in \d{4}-\d{2}/m);
  const unknown = await doctor('--platform', '--waba', '299999999999999');
  expect(unknown.stdout).toMatch(/^✗ platform: the WABA 299999999999999 is not provisioned/m);
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
