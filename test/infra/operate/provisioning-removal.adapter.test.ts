import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test } from 'vitest';
import demo from '../../../infra/local/demo/provisioning.json' with { type: 'json' };
import { provision } from '../../../infra/operate/tables/provisioning-run.ts';
import type { Target } from '../../../infra/operate/target.ts';
import { directoryStore } from '../../../lib/access/directory-store.ts';
import { credentialStore } from '../../../lib/access/sign-in/credential-store.ts';
import { loginAttemptsStore } from '../../../lib/access/sign-in/login-attempts-store.ts';
import { deriveKey } from '../../../lib/access/sign-in/password.ts';
import { signIn } from '../../../lib/access/sign-in/sign-in.ts';
import { channelStore } from '../../../lib/channels/channel-store.ts';
import { lineText } from '../../../lib/provisioning/plan-lines.ts';
import type { ProvisionedState, StoredItem } from '../../../lib/provisioning/provisioning-plan.ts';
import {
  ProvisioningTakenOver,
  ProvisioningUnderWay,
  provisioningStore,
} from '../../../lib/provisioning/provisioning-store.ts';
import { injectFaults } from '../../support/dynamo-faults.ts';
import { allowedIn } from '../../support/provisioned-state.ts';
import { provisioningTarget } from '../../support/provisioning-target.ts';
import type { SecretsInMemory } from '../../support/secrets.ts';
import { localDocumentClient } from '../../support/stores.ts';

type File = typeof demo;
const startMs = Date.UTC(2026, 10, 20, 12);
const nowMs = () => startMs;
const later = () => startMs + 600_000;

let secrets: SecretsInMemory;
let target: Target;

const freshTarget = async () => {
  ({ target, secrets } = await provisioningTarget());
};

beforeEach(freshTarget);

async function contents(): Promise<ProvisionedState> {
  const items: StoredItem[] = [];
  for (const table of ['directory', 'credentials', 'channels'] as const) {
    const scan = new ScanCommand({ TableName: target.tableName(table) });
    const { Items = [] } = await target.documentClient.send(scan);
    for (const { pk, sk, ...attributes } of Items)
      items.push({ table, key: { pk, ...(sk ? { sk } : {}) }, attributes });
  }
  const [credentials = '{}', apps = '{}'] = ['PLATFORM_CREDENTIALS_SECRET', 'PLATFORM_APPS_SECRET'].map((name) =>
    secrets.texts.get(name),
  );
  return { items, platformCredentials: JSON.parse(credentials), platformApps: JSON.parse(apps) };
}

/** Salts, times and channels listed as deleted differ in every run, so they are left out. */
const comparable = ({ items, platformCredentials, platformApps }: ProvisionedState) => ({
  items: items
    .filter(({ key, attributes }) => !/^(?:PROVISIONING|ATTEMPTS#.*)$/.test(key.pk) && attributes['g'] !== true)
    .map(({ key, attributes: { passwordHash: _, t: __, ...attributes } }) => ({ key, attributes }))
    .sort((a, b) => (JSON.stringify(a.key) < JSON.stringify(b.key) ? -1 : 1)),
  platformCredentials,
  platformApps,
});

function demoWith(change: (file: File) => void): File {
  const file = structuredClone(demo);
  change(file);
  return file;
}

/** Client 1002 goes, one user loses rights and gets another password, another user gains rights, one token changes. */
const reduced = demoWith((file) => {
  file.clients = file.clients.filter(({ client_id }) => client_id !== 1002);
  file.channels = file.channels.filter(({ client_id }) => client_id !== 1002);
  file.campaigns = file.campaigns.filter(({ client_id }) => client_id !== 1002);
  file.wabas = file.wabas.filter(({ waba_id }) => waba_id === '200000000000001');
  for (const waba of file.wabas) waba.client_ids = [1001, 1];
  for (const app of file.platform_apps) app.wabas = ['200000000000001'];
  file.users = file.users.filter(({ client_id }) => client_id !== 1002);
  for (const user of file.users) {
    if (user.username === 'operator') Object.assign(user, { permissions: [], password: 'another password' });
    if (user.username === 'agent1001') user.permissions = ['BSP_CN'];
  }
  for (const credential of file.platform_credentials) credential.access_token = 'another-platform-token';
});

async function canLogIn(username: string): Promise<boolean> {
  const directory = directoryStore(target.documentClient, target.tableName('directory'));
  const credentials = credentialStore(target.documentClient, target.tableName('credentials'));
  const attempts = loginAttemptsStore(target.documentClient, target.tableName('credentials'));
  const ports = { credentials, attempts, directory, deriveKey, newSalt: () => Buffer.alloc(16) };
  const attempt = { username, network: '203.0.113.7', password: `demo-${username}` };
  return (await signIn(ports, attempt, startMs)) !== undefined;
}

test('what is no longer in the file is gone: users cannot log in, numbers and clients are not found', async () => {
  await provision(demo, target, { nowMs });
  expect(await canLogIn('supervisor1002')).toBe(true);
  const report = await provision(reduced, target, { nowMs, removalsAllowed: 7 });
  expect(report.lines.filter(({ change }) => change === 'removed').map(lineText)).toEqual([
    '- campaign 20',
    '- channel 502',
    '- channel 503',
    '- client 1002',
    '- user supervisor1002',
    '- WABA membership 200000000000001 of client 1002',
    '- WABA membership 200000000000002 of client 1002',
  ]);
  expect(await canLogIn('supervisor1002')).toBe(false);
  const directory = directoryStore(target.documentClient, target.tableName('directory'));
  expect(await directory.findDid('5491100000002')).toBeUndefined();
  expect((await directory.findDid('5491100000001'))?.waba.clientIds).toEqual([1, 1001]);
  expect(await directory.listWabas(1002)).toEqual([]);
  expect(await directory.listClientIds()).toEqual([1, 1001]);
  const listed = await channelStore(target.documentClient, target.tableName('channels')).channelsOf(undefined);
  expect(
    listed
      .filter(({ deleted }) => deleted)
      .map(({ waId }) => waId)
      .toSorted(),
  ).toEqual(['5491100000002', '5511900000003']);
  expect(listed).toHaveLength(3);
  const reached = comparable(await contents());

  await freshTarget();
  await provision(reduced, target, { nowMs });
  expect(reached).toEqual(comparable(await contents()));
});

test('removals are refused, with the plan and before anything is written, unless so many are allowed', async () => {
  await provision(demo, target, { nowMs });
  const before = await contents();
  await expect(provision(reduced, target, { nowMs })).rejects.toMatchObject({ name: 'RemovalsRefused', removals: 7 });
  await expect(provision(reduced, target, { nowMs, removalsAllowed: 6 })).rejects.toThrow('7 entries would be removed');
  expect(await contents()).toEqual(before);
});

test('a dry run reports what the run then does, and writes nothing', async () => {
  await provision(demo, target, { nowMs });
  const before = await contents();
  secrets.written.length = 0;
  const dry = await provision(reduced, target, { nowMs, dryRun: true, removalsAllowed: 7 });
  expect(await contents()).toEqual(before);
  expect(secrets.written).toEqual([]);
  expect(await provision(reduced, target, { nowMs, removalsAllowed: 7 })).toEqual(dry);
  expect(dry.lines.map(lineText)).toContain('~ user operator: permissions, password');
});

/** Replaces passwords by hashes, so that no run derives keys and both runs store the same text. */
function hashed(file: File) {
  const hashOf = (password: string) => password.replace(/[^a-z]/g, '').padEnd(43, 'A');
  const users = file.users.map(({ password, ...user }) => ({
    ...user,
    password_hash: `$scrypt$ln=15,r=8,p=3$${'A'.repeat(22)}$${hashOf(password)}`,
  }));
  return { ...file, users };
}

test('a run that dies before any of its writes has given no new rights, and the next run completes it', async () => {
  const [before, after] = [hashed(demo), hashed(reduced)];
  const allow = { removalsAllowed: 7 };
  await provision(before, target, { nowMs });
  const old = allowedIn(await contents());
  await provision(after, target, { nowMs, ...allow });
  const reached = await contents();
  const ends = [old, allowedIn(reached)];

  let died = 0;
  for (let ended = false; !ended; died += ended ? 0 : 1) {
    await freshTarget();
    await provision(before, target, { nowMs });
    ended = await provision(after, mortalTarget(target, died + 1), { nowMs, ...allow }).then(
      () => true,
      () => false,
    );
    const left = [...allowedIn(await contents())];
    expect(ends.some((end) => left.every((right) => end.has(right)))).toBe(true);
    await provision(after, target, { nowMs: later, ...allow });
    expect(comparable(await contents())).toEqual(comparable(reached));
  }
  // The writes are: the lock, the revocations, two renewals of the lock, a secret, the grants, the end.
  expect(died).toBe(8);
});

/** All writes from the given one on fail, as after a crash. */
function mortalTarget(alive: Target, deathAt: number): Target {
  let writes = 0;
  const dies = () => {
    writes += 1;
    return writes >= deathAt;
  };
  const error = Object.assign(new Error('the process died'), { $retryable: undefined });
  const documentClient = localDocumentClient();
  injectFaults(documentClient, (operation) => {
    const reads = ['Get', 'Scan', 'Query'].some((word) => operation.startsWith(word));
    return !reads && dies() ? { kind: 'throw', error } : undefined;
  });
  const write: Target['secrets']['write'] = async (name, text) => {
    if (dies()) throw error;
    await alive.secrets.write(name, text);
  };
  return { ...alive, documentClient, secrets: { ...alive.secrets, write } };
}

test('two runs at once: the second is refused until the first has ended or has been silent for two minutes', async () => {
  const { documentClient, tableName } = target;
  let clockMs = startMs;
  const store = provisioningStore({ documentClient, tableName, nowMs: () => clockMs });
  const first = await store.begin('first');
  await expect(provision(demo, target, { nowMs })).rejects.toEqual(new ProvisioningUnderWay(startMs + 120_000));
  expect(secrets.written).toEqual([]);
  await first.end();
  const second = await store.begin('second');

  clockMs += 119_999;
  await expect(store.begin('third')).rejects.toThrow(ProvisioningUnderWay);
  await second.renew();
  clockMs += 1;
  await expect(store.begin('third')).rejects.toThrow(ProvisioningUnderWay);
  clockMs += 119_999;
  const third = await store.begin('third');

  const change = {
    table: 'directory',
    key: { pk: 'CLIENT#9', sk: 'PROFILE' },
    set: { clientId: 9, name: 'X' },
  } as const;
  await expect(second.write([change])).rejects.toThrow(ProvisioningTakenOver);
  await second.end();
  await third.write([change]);
  await third.end();
  expect((await contents()).items).toMatchObject([{ key: change.key, attributes: change.set }]);
});

test('a run whose lock write lost its reply holds the lock, and no other run does', async () => {
  const { tableName } = target;
  const documentClient = localDocumentClient();
  injectFaults(documentClient, (_, attempt) => (attempt === 1 ? { kind: 'lose_reply' } : undefined));
  const run = await provisioningStore({ documentClient, tableName, nowMs }).begin('first');
  await expect(provision(demo, target, { nowMs })).rejects.toThrow(ProvisioningUnderWay);
  await run.end();
  await provision(demo, target, { nowMs });
});

test('a directory of many pages and changes is taken in and written whole', async () => {
  const many = demoWith((file) => {
    for (let index = 0; index < 250; index++) {
      file.campaigns.push({ campaign_id: 1_000 + index, client_id: 1001, name: `Campaign ${index}` });
    }
  });
  await provision(many, target, { nowMs });
  const directory = directoryStore(target.documentClient, target.tableName('directory'));
  expect(await directory.listCampaigns(1001)).toHaveLength(252);
  const big = { pk: 'OTHER', sk: '', note: 'x'.repeat(390_000) };
  for (const letter of ['a', 'b', 'c', 'd']) {
    const Item = { ...big, sk: letter };
    await target.documentClient.send(new PutCommand({ TableName: target.tableName('directory'), Item }));
  }
  await provision(demo, target, { nowMs, removalsAllowed: 250 });
  expect(await directory.listCampaigns(1001)).toHaveLength(2);
  expect((await contents()).items.filter(({ key }) => key.pk === 'OTHER')).not.toEqual([]);
});
