import { randomBytes } from 'node:crypto';
import { GetCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test } from 'vitest';
import type { WebhookConfig } from '../../../../lib/webhooks/config/config.ts';
import { type WebhookConfigs, webhookConfigStore } from '../../../../lib/webhooks/config/config-store.ts';
import { configure } from '../../../../lib/webhooks/config/configure.ts';
import { secretOpener } from '../../../../lib/webhooks/config/sealing.ts';
import { injectFaults } from '../../../support/dynamo-faults.ts';
import { sealingKeys } from '../../../support/sealing-keys.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const client = localDocumentClient();
const nowMs = 1_800_000_000_000;
const keys = sealingKeys('a');
const openSecrets = secretOpener(async () => keys);
const change = { clientId: 1001, url: 'https://hooks.example.com/a', nowMs };
const delivery = { pk: 'CLIENT#1001', sk: 'DELIVERY' };

let tableName: string;
let configs: WebhookConfigs;

beforeEach(async () => {
  tableName = await freshTable('webhooks');
  configs = webhookConfigStore(client, tableName);
});

/** These clients' deliveries were woken. */
const woken: number[] = [];
const wake = async (clientId: number) => void woken.push(clientId);
const collaborators = (store = configs) => ({ configs: store, sealingKeys: async () => keys, randomBytes, wake });

async function stored(clientId = 1001): Promise<WebhookConfig> {
  const config = await configs.findConfig(clientId);
  if (config === undefined) throw new Error('there is no configuration');
  return config;
}

const storedSecrets = async () => openSecrets(await stored(), nowMs);

test('a configuration is found as it was written, by its client only', async () => {
  const { config, secret } = await configure(collaborators(), change, false);
  expect(await stored()).toEqual(config);
  expect(await storedSecrets()).toEqual([secret]);
  expect(await configs.findConfig(1002)).toBeUndefined();
});

test('at rest no secret can be read', async () => {
  const { secret = '' } = await configure(collaborators(), change, false);
  const { Items } = await client.send(new ScanCommand({ TableName: tableName }));
  expect(JSON.stringify(Items)).toContain('sealed');
  expect(JSON.stringify(Items)).not.toContain('whsec_');
  expect(JSON.stringify(Items)).not.toContain(secret.slice('whsec_'.length));
});

test('of many that create at once, one makes the secret, and all are carried out', async () => {
  const urls = Array.from({ length: 8 }, (_, index) => `https://hooks.example.com/${index}`);
  const results = await Promise.all(urls.map((url) => configure(collaborators(), { ...change, url }, false)));
  const shown = results.flatMap(({ secret }) => secret ?? []);
  expect(shown).toHaveLength(1);
  expect(await storedSecrets()).toEqual(shown);
  expect((await stored()).version).toBe(8);
  expect(results.map(({ config }) => config.version).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(results.find(({ config }) => config.version === 8)?.config).toEqual(await stored());
});

test('of many rotations at once, the last two are stored, and each showed the secret it stored', async () => {
  await configure(collaborators(), change, false);
  const results = await Promise.all(Array.from({ length: 5 }, () => configure(collaborators(), change, true)));
  const inOrder = results.toSorted((a, b) => b.config.version - a.config.version);
  expect(await storedSecrets()).toEqual(inOrder.slice(0, 2).map(({ secret }) => secret));
  for (const { config, secret } of results) expect((await openSecrets(config, nowMs))[0]).toBe(secret);
});

test.each([false, true])('a write whose reply is lost shows the secret it stored (rotation: %s)', async (rotate) => {
  if (rotate) await configure(collaborators(), change, false);
  const faulty = localDocumentClient();
  const attempts = injectFaults(faulty, (operation, attempt) =>
    operation === 'PutItemCommand' && attempt === 1 ? { kind: 'lose_reply' } : undefined,
  );
  const { secret } = await configure(collaborators(webhookConfigStore(faulty, tableName)), change, rotate);
  expect(attempts.get('PutItemCommand')).toBe(2);
  expect((await storedSecrets())[0]).toBe(secret);
  expect((await stored()).version).toBe(rotate ? 2 : 1);
});

test('a PUT wakes what waits for an active receiver once it is stored, and is one without the wake too (D33)', async () => {
  woken.length = 0;
  await configure(collaborators(), change, false);
  await configure(collaborators(), { ...change, active: false }, false);
  expect(woken).toEqual([]);
  await configure(collaborators(), { ...change, active: true }, false);
  const order: number[] = [];
  const noting = { ...collaborators(), wake: async () => void order.push((await stored()).version) };
  await configure(noting, change, false);
  expect([woken, order]).toEqual([[1001], [4]]);
  const deaf = { ...collaborators(), wake: () => Promise.reject(new Error('the queue is away')) };
  expect((await configure(deaf, change, true)).secret).toMatch(/^whsec_/);
});

test('nothing is shown when nothing could be stored', async () => {
  const failing = { ...configs, replaceConfig: async () => Promise.reject(new Error('the table is away')) };
  await expect(configure(collaborators(failing), change, false)).rejects.toThrow('the table is away');
  expect(await configs.findConfig(1001)).toBeUndefined();
});

test('a PUT seals what an old key has sealed under the first one', async () => {
  const { secret } = await configure(collaborators(), change, false);
  const rotatedKeys = { ...collaborators(), sealingKeys: async () => sealingKeys('b', 'a') };
  await configure(rotatedKeys, change, false);
  expect(await secretOpener(async () => sealingKeys('b'))(await stored(), nowMs)).toEqual([secret]);
});

test('the service switches off the version it knows, once', async () => {
  const { config: older } = await configure(collaborators(), change, false);
  const { config } = await configure(collaborators(), { ...change, url: `${change.url}/new` }, false);
  for (const version of [older.version, config.version + 1]) {
    expect(await configs.switchOff(1001, version, 'gone', nowMs)).toBe(false);
  }
  expect(await configs.switchOff(1001, config.version, 'gone', nowMs)).toBe(true);
  expect(await stored()).toMatchObject({ active: false, disabledReason: 'gone', disabledAtMs: nowMs, version: 3 });
  expect(await configs.switchOff(1001, 3, 'failing', nowMs + 1)).toBe(false);
  expect(await configs.switchOff(1002, 1, 'gone', nowMs)).toBe(false);
  expect(await configs.findConfig(1002)).toBeUndefined();
});

test('a switch-off whose reply is lost is true all the same', async () => {
  await configure(collaborators(), change, false);
  const faulty = localDocumentClient();
  injectFaults(faulty, (operation, attempt) =>
    operation === 'UpdateItemCommand' && attempt === 1 ? { kind: 'lose_reply' } : undefined,
  );
  expect(await webhookConfigStore(faulty, tableName).switchOff(1001, 1, 'failing', nowMs)).toBe(true);
});

test('switched on again, the failures are forgotten and the slots of attempts in the air are not', async () => {
  await configure(collaborators(), change, false);
  const state = { ...delivery, slots: [{ until: 5 }], pausedUntilMs: 9, consecutiveFailures: 3, failingSinceMs: 1 };
  await client.send(new PutCommand({ TableName: tableName, Item: { ...state, lastSuccessMs: 2 } }));
  expect(await configs.findFailures(1001)).toEqual({ consecutiveFailures: 3, failingSinceMs: 1 });
  expect(await configs.findFailures(1002)).toBeUndefined();
  await configs.switchOff(1001, 1, 'failing', nowMs);
  const read = async () => (await client.send(new GetCommand({ TableName: tableName, Key: delivery }))).Item;

  await configure(collaborators(), change, false);
  expect(await read()).toMatchObject({ pausedUntilMs: 9 });
  const { config } = await configure(collaborators(), { ...change, active: true }, false);
  expect(config.disabledReason).toBeUndefined();
  expect(await stored()).toEqual(config);
  expect(await read()).toEqual({ ...delivery, slots: [{ until: 5 }], version: 1 });
});

test('forgetting failures of a client that has had no delivery writes nothing', async () => {
  await configs.forgetFailures(1001);
  expect((await client.send(new ScanCommand({ TableName: tableName }))).Items).toEqual([]);
});
