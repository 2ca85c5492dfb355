import { ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test } from 'vitest';
import demo from '../../../infra/local/demo/provisioning.json' with { type: 'json' };
import { CommandError } from '../../../infra/operate/command.ts';
import { describeReport, provision, provisionFile } from '../../../infra/operate/provision.ts';
import type { Target } from '../../../infra/operate/target.ts';
import type { TableName } from '../../../infra/tables.ts';
import { credentialStore } from '../../../lib/access/credential-store.ts';
import { verifyPassword } from '../../../lib/access/password.ts';
import { ProvisioningFaults } from '../../../lib/access/provisioning.ts';
import { signingKey, verificationKeys } from '../../../lib/access/token-keys.ts';
import { sealingKeySet } from '../../../lib/webhooks/sealing.ts';
import { secretsInMemory } from '../../support/secrets.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

const client = localDocumentClient();
const demoFile = 'infra/local/demo/provisioning.json';
const nowMs = Date.UTC(2026, 10, 20, 12);
const dayMs = 86_400_000;

let secrets: ReturnType<typeof secretsInMemory>;
let target: Target;

beforeEach(async () => {
  const names = { directory: await freshTable('directory'), credentials: await freshTable('credentials') };
  secrets = secretsInMemory();
  target = {
    documentClient: client,
    secrets,
    tableName: (table: TableName) => names[table as keyof typeof names],
    secretName: (variable) => variable,
  };
});

async function contents(table: TableName) {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: target.tableName(table) }));
  return Items.toSorted((a, b) => `${a['pk']}${a['sk']}`.localeCompare(`${b['pk']}${b['sk']}`));
}

const everything = async () => ({
  directory: await contents('directory'),
  credentials: await contents('credentials'),
  secrets: [...secrets.texts].toSorted(),
});

test('a file is loaded: items, hashed passwords, platform credentials and token keys, public set first', async () => {
  const report = await provisionFile(demoFile, target);
  expect(report).toEqual({
    counts: { clients: 3, wabas: 2, channels: 3, campaigns: 3, users: 4 },
    passwordsHashed: 4,
    platformCredentialsChanged: 1,
    tokenKeysCreated: true,
    sealingKeysCreated: true,
  });
  expect(await contents('directory')).toHaveLength(22);

  const credential = await credentialStore(client, target.tableName('credentials')).find('supervisor1001');
  expect(credential).toMatchObject({ userId: 'supervisor1001', clientId: 1001 });
  expect(await verifyPassword('demo-supervisor1001', credential?.passwordHash ?? '')).toBe(true);

  expect(JSON.parse(secrets.texts.get('PLATFORM_CREDENTIALS_SECRET') ?? '')).toEqual({
    demo: { accessToken: 'demo-platform-token', appId: '100000000000001' },
  });
  const verification = secrets.texts.get('TOKEN_VERIFICATION_KEYS_SECRET') ?? '';
  const signing = await signingKey(secrets.texts.get('TOKEN_SIGNING_KEYS_SECRET') ?? '');
  expect([...(await verificationKeys(verification)).keys()]).toEqual([signing.keyId]);
  expect(verification).not.toContain('"d"');
  expect(secrets.written.slice(1)).toEqual([
    'TOKEN_VERIFICATION_KEYS_SECRET',
    'TOKEN_SIGNING_KEYS_SECRET',
    'WEBHOOK_SEALING_KEYS_SECRET',
  ]);
  expect(sealingKeySet(secrets.texts.get('WEBHOOK_SEALING_KEYS_SECRET') ?? '').keys).toHaveLength(1);
});

test('a second run changes nothing at all (D36)', async () => {
  await provision(demo, target, nowMs);
  const before = await everything();
  secrets.written.length = 0;
  expect(await provision(demo, target, nowMs + dayMs)).toMatchObject({
    passwordsHashed: 0,
    platformCredentialsChanged: 0,
    tokenKeysCreated: false,
    sealingKeysCreated: false,
  });
  expect(await everything()).toEqual(before);
  expect(secrets.written).toEqual([]);
});

test('a run leaves what others have written to a channel as it is', async () => {
  await provision(demo, target, nowMs);
  const Key = { pk: 'CLIENT#1001', sk: 'CHANNEL#501' };
  await client.send(
    new UpdateCommand({
      TableName: target.tableName('directory'),
      Key,
      UpdateExpression: 'SET qualityRating = :green, #status = :banned',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':green': 'GREEN', ':banned': 'BANNED' },
    }),
  );
  const renamed = structuredClone(demo);
  for (const channel of renamed.channels) channel.name = 'Renamed';
  await provision(renamed, target, nowMs + dayMs);
  expect((await contents('directory')).find(({ sk }) => sk === 'CHANNEL#501')).toMatchObject({
    name: 'Renamed',
    qualityRating: 'GREEN',
    status: 'BANNED',
    createdAt: '2026-11-20T12:00:00.000Z',
  });
});

test('a changed password, WABA membership or platform token is taken over; the rest stays', async () => {
  await provision(demo, target, nowMs);
  const before = await everything();
  secrets.texts.set(
    'PLATFORM_CREDENTIALS_SECRET',
    JSON.stringify({
      demo: { accessToken: 'old-platform-token', appId: '1' },
      other: { accessToken: 'x', appId: '2' },
    }),
  );
  const changed = structuredClone(demo);
  for (const user of changed.users) if (user.username === 'operator') user.password = 'another password';
  for (const waba of changed.wabas) waba.client_ids = [1001, 1002, 1];
  expect(await provision(changed, target, nowMs)).toMatchObject({ passwordsHashed: 1, platformCredentialsChanged: 1 });

  const store = credentialStore(client, target.tableName('credentials'));
  expect(await verifyPassword('another password', (await store.find('operator'))?.passwordHash ?? '')).toBe(true);
  const others = (items: Record<string, unknown>[]) => items.filter(({ pk }) => pk !== 'USER#operator');
  expect(others(await contents('credentials'))).toEqual(others(before.credentials));
  expect((await contents('directory')).filter(({ sk }) => sk === 'DID').map(({ waba }) => waba.clientIds)).toEqual([
    [1, 1001, 1002],
    [1, 1001, 1002],
    [1, 1001, 1002],
  ]);
  expect(JSON.parse(secrets.texts.get('PLATFORM_CREDENTIALS_SECRET') ?? '')).toEqual({
    demo: { accessToken: 'demo-platform-token', appId: '100000000000001' },
    other: { accessToken: 'x', appId: '2' },
  });
});

test('a fault anywhere: nothing is written, every fault is named (D36)', async () => {
  const broken = structuredClone(demo);
  for (const user of broken.users) user.client_id = 7;
  await expect(provision(broken, target, nowMs)).rejects.toThrow(ProvisioningFaults);
  expect(await everything()).toEqual({ directory: [], credentials: [], secrets: [] });
});

test('a stored hash is taken as it is', async () => {
  await provision(demo, target, nowMs);
  const passwordHash = `$scrypt$ln=15,r=8,p=3$${'A'.repeat(22)}$${'A'.repeat(43)}`;
  const users = demo.users.map(({ password: _, ...user }) => ({ ...user, password_hash: passwordHash }));
  expect(await provision({ ...demo, users }, target, nowMs)).toMatchObject({ passwordsHashed: 0 });
  expect((await contents('credentials')).map((item) => item['passwordHash'])).toEqual(Array(4).fill(passwordHash));
});

test('a broken key set is an error and stays as it is', async () => {
  secrets.texts.set('TOKEN_SIGNING_KEYS_SECRET', '{"keys":[{"kty":"EC"}]}');
  await expect(provision(demo, target, nowMs)).rejects.toThrow('the signing key set is not usable');
  expect(secrets.texts.get('TOKEN_SIGNING_KEYS_SECRET')).toBe('{"keys":[{"kty":"EC"}]}');
});

test('a file that is missing or not JSON is one sentence; a report never holds a secret (R44)', async () => {
  await expect(provisionFile('no-such-file.json', target)).rejects.toThrow(CommandError);
  await expect(provisionFile('test', target)).rejects.toThrow(new CommandError('test cannot be read (EISDIR).'));
  await expect(provisionFile('README.md', target)).rejects.toThrow('README.md is not JSON');
  expect(describeReport(await provisionFile(demoFile, target))).not.toMatch(/demo-/);
});
