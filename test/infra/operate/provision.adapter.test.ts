import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test, vi } from 'vitest';
import demo from '../../../infra/local/demo/provisioning.json' with { type: 'json' };
import { CommandError, callersPath } from '../../../infra/operate/command.ts';
import { readCredentials } from '../../../infra/operate/stored-credentials.ts';
import { describeReport, provisionFile, refusalAsJson } from '../../../infra/operate/tables/provision.ts';
import { type ProvisioningOptions, provision } from '../../../infra/operate/tables/provisioning-run.ts';
import type { Target } from '../../../infra/operate/target.ts';
import type { TableName } from '../../../infra/tables.ts';
import { directoryStore } from '../../../lib/access/directory-store.ts';
import { credentialStore } from '../../../lib/access/sign-in/credential-store.ts';
import { verifyPassword } from '../../../lib/access/sign-in/password.ts';
import { signingKey, verificationKeys } from '../../../lib/access/tokens/token-keys.ts';
import { channelStore } from '../../../lib/channels/channel-store.ts';
import { markKey } from '../../../lib/opt-outs/opt-out-items.ts';
import { stopWordListReader } from '../../../lib/opt-outs/stop-word-list-store.ts';
import { stopWordMatcher, stopWords } from '../../../lib/opt-outs/stop-words.ts';
import { platformCredentials } from '../../../lib/platform/credentials.ts';
import { lineText } from '../../../lib/provisioning/plan-lines.ts';
import { ProvisioningFaults } from '../../../lib/provisioning/provisioning-file.ts';
import { provisioningStore } from '../../../lib/provisioning/provisioning-store.ts';
import { sealingKeySet } from '../../../lib/webhooks/config/sealing.ts';
import { contentsOf, provisionedIn, provisioningTarget, someCredentials } from '../../support/provisioning-target.ts';
import { listAsDeleted } from '../../support/scale-loading.ts';
import type { SecretsInMemory } from '../../support/secrets.ts';
import { localDocumentClient } from '../../support/stores.ts';

const client = localDocumentClient();
const demoFile = 'infra/local/demo/provisioning.json';
const startMs = Date.UTC(2026, 10, 20, 12);
const nowMs = () => startMs;
const nextDay = { nowMs: () => startMs + 86_400_000 };

let secrets: SecretsInMemory;
let target: Target;

beforeEach(async () => {
  ({ target, secrets } = await provisioningTarget());
});

const contents = (table: TableName) => contentsOf(target, table);

const everything = () => provisionedIn(target, secrets);

test('a file is loaded: items, hashed passwords, platform credentials and token keys, public set first', async () => {
  const report = await provisionFile(demoFile, target);
  expect(report).toMatchObject({
    counts: { clients: 3, wabas: 2, channels: 3, campaigns: 3, users: 4 },
    passwordsHashed: 4,
    tokenKeysCreated: true,
    clientsToSynchronize: [1001, 1002],
    sealingKeysCreated: true,
    personKeyCreated: true,
  });
  expect(await contents('directory')).toHaveLength(22);
  expect(await contents('channels')).toHaveLength(6);

  const credential = await credentialStore(client, target.tableName('credentials')).find('supervisor1001');
  expect(credential).toMatchObject({ userId: 'supervisor1001', clientId: 1001 });
  expect(await verifyPassword('demo-supervisor1001', credential?.passwordHash ?? '')).toBe(true);

  expect(JSON.parse(secrets.texts.get('PLATFORM_CREDENTIALS_SECRET') ?? '')).toEqual({
    demo: { accessToken: 'demo-platform-token', appId: '500000000000001' },
  });
  expect(JSON.parse(secrets.texts.get('PLATFORM_APPS_SECRET') ?? '')).toEqual({
    '500000000000001': {
      appSecret: 'demo-app-secret',
      verifyToken: 'demo-verify-token',
      wabas: ['200000000000001', '200000000000002'],
    },
  });
  const items = JSON.stringify([await contents('directory'), await contents('channels'), report]);
  expect(items).not.toMatch(/demo-app-secret|demo-verify-token/);
  const verification = secrets.texts.get('TOKEN_VERIFICATION_KEYS_SECRET') ?? '';
  const signing = await signingKey(secrets.texts.get('TOKEN_SIGNING_KEYS_SECRET') ?? '');
  expect([...(await verificationKeys(verification)).keys()]).toEqual([signing.keyId]);
  expect(verification).not.toContain('"d"');
  expect(secrets.written.slice(2)).toEqual([
    'TOKEN_VERIFICATION_KEYS_SECRET',
    'TOKEN_SIGNING_KEYS_SECRET',
    'WEBHOOK_SEALING_KEYS_SECRET',
    'PERSON_KEY_SECRET',
  ]);
  expect(sealingKeySet(secrets.texts.get('WEBHOOK_SEALING_KEYS_SECRET') ?? '').keys).toHaveLength(1);
});

test('a second run changes nothing at all (D36)', async () => {
  await provision(demo, target, { nowMs });
  const before = await everything();
  secrets.written.length = 0;
  expect(await provision(demo, target, nextDay)).toMatchObject({
    lines: [],
    passwordsHashed: 0,
    tokenKeysCreated: false,
    clientsToSynchronize: [],
    sealingKeysCreated: false,
    personKeyCreated: false,
  });
  expect(await everything()).toEqual(before);
  expect(secrets.written).toEqual([]);
});

test('without the key of people nothing is written once there is a stop: a new key would not find it (D55)', async () => {
  await provision(demo, target, { nowMs });
  secrets.texts.delete('PERSON_KEY_SECRET');
  await client.send(
    new PutCommand({ TableName: target.tableName('messages'), Item: markKey({ kind: 'client', clientId: 1001 }) }),
  );
  const before = await everything();
  await expect(provision(demo, target, nextDay)).rejects.toThrow('the key of people is gone');
  expect(await everything()).toEqual(before);
});

test('a run keeps what other writers have stored of a channel, and restores a deleted channel', async () => {
  await provision(demo, target, { nowMs });
  const tableName = target.tableName('channels');
  const store = channelStore(client, tableName);
  const [channel] = await store.channelsOf(1001);
  if (channel === undefined) throw new Error('no channel');
  await store.writeLive(channel, { status: 'BANNED', qualityRating: 'RED' }, startMs);
  await listAsDeleted({ documentClient: client, tableName }, channel);
  const renamed = structuredClone(demo);
  for (const waba of renamed.wabas) waba.business_name = 'Renamed';
  await provision(renamed, target, nextDay);
  expect(await store.channelsOf(1001)).toEqual([
    { ...channel, businessName: 'Renamed', qualityRating: 'RED', status: 'BANNED' },
  ]);
  expect(channel).toMatchObject({ status: 'ACTIVE', createdAt: '2026-11-20T12:00:00.000Z', deleted: false });
});

test('a changed password, WABA membership or platform token is taken over; the rest stays', async () => {
  await provision(demo, target, { nowMs });
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
  const report = await provision(changed, target, { nowMs, removalsAllowed: 1 });
  expect(report).toMatchObject({ passwordsHashed: 1, clientsToSynchronize: [1, 1001] });
  expect(report.lines.map(lineText)).toEqual(
    expect.arrayContaining([
      '~ user operator: password',
      '~ WABA membership 200000000000001 of client 1002: client_ids',
      '~ platform credential demo: access_token, app_id',
      '- platform credential other',
    ]),
  );

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
    demo: { accessToken: 'demo-platform-token', appId: '500000000000001' },
  });
});

test('a fault anywhere: nothing is written, every fault is named (D36)', async () => {
  const broken = structuredClone(demo);
  for (const user of broken.users) user.client_id = 7;
  await expect(provision(broken, target, { nowMs })).rejects.toThrow(ProvisioningFaults);
  expect(await everything()).toEqual({ directory: [], channels: [], credentials: [], secrets: [] });
});

test('a stored hash is taken as it is', async () => {
  await provision(demo, target, { nowMs });
  const passwordHash = `$scrypt$ln=15,r=8,p=3$${'A'.repeat(22)}$${'A'.repeat(43)}`;
  const users = demo.users.map(({ password: _, ...user }) => ({ ...user, password_hash: passwordHash }));
  expect(await provision({ ...demo, users }, target, { nowMs })).toMatchObject({ passwordsHashed: 0 });
  expect((await contents('credentials')).map((item) => item['passwordHash'])).toEqual(Array(4).fill(passwordHash));

  const store = credentialStore(client, target.tableName('credentials'));
  await store.replaceHash('operator', passwordHash, 'the hash that a login has put in its place');
  const before = await everything();
  expect(await provision({ ...demo, users }, target, nextDay)).toMatchObject({ lines: [] });
  expect(await everything()).toEqual(before);
});

test('acceptance and inbound read the file’s opt-out settings of a DID (D55)', async () => {
  const reads = async () => {
    const found = await directoryStore(client, target.tableName('directory')).findDid('5491100000001');
    if (found === undefined) throw new Error('a DID of the demo');
    const { utilityStops, platformStops } = found.waba;
    return { utilityStops, platformStops };
  };
  await provision(demo, target, { nowMs });
  expect(await reads()).toEqual({ utilityStops: [], platformStops: 'number' });
  const clients = demo.clients.map((each) => ({ ...each, opt_outs_for_utility: each.client_id === 1001 }));
  const wabas = demo.wabas.map((each) => ({ ...each, platform_stops: 'waba' }));
  await provision({ ...demo, clients, wabas }, target, { nowMs });
  expect(await reads()).toEqual({ utilityStops: [1001], platformStops: 'waba' });
});

test('a word list of provisioning replaces the shipped one, list by list, until the file has none any more (D55)', async () => {
  const read = stopWordListReader(client, target.tableName('directory'));
  const judged = async (...texts: string[]) => {
    const judge = stopWordMatcher(await read());
    return texts.map((text) => judge({ by: 'text', text }));
  };
  const told = ['Stop', '¡BASTA ya!', 'Alta', 'otra vez'];
  await provision(demo, target, { nowMs });
  expect(await judged(...told)).toEqual(['stop', undefined, 'start', undefined]);
  await provision({ ...demo, opt_out_words: { stop: ['basta ya'], start: ['Otra vez'] } }, target, { nowMs });
  expect(await judged(...told)).toEqual([undefined, 'stop', undefined, 'start']);
  await provision({ ...demo, opt_out_words: { stop: ['basta ya'] } }, target, { nowMs });
  expect(await judged(...told)).toEqual([undefined, 'stop', 'start', undefined]);
  await expect(provision(demo, target, { nowMs })).rejects.toThrow('1 entry would be removed');
  await provision(demo, target, { nowMs, removalsAllowed: 1 });
  expect(await read()).toEqual(stopWords);
});

test('a broken key set is an error and stays as it is', async () => {
  secrets.texts.set('TOKEN_SIGNING_KEYS_SECRET', '{"keys":[{"kty":"EC"}]}');
  await expect(provision(demo, target, { nowMs })).rejects.toThrow('the signing key set is not usable');
  expect(secrets.texts.get('TOKEN_SIGNING_KEYS_SECRET')).toBe('{"keys":[{"kty":"EC"}]}');
});

test('a file that is missing or not JSON is one sentence; a report never holds a secret (R44)', async () => {
  await expect(provisionFile('no-such-file.json', target)).rejects.toThrow(CommandError);
  await expect(provisionFile('test', target)).rejects.toThrow(new CommandError('test cannot be read (EISDIR).'));
  await expect(provisionFile('README.md', target)).rejects.toThrow('README.md is not JSON');
  expect(describeReport(await provisionFile(demoFile, target))).not.toMatch(/demo-/);
});

async function provisionText(text: string, options?: ProvisioningOptions) {
  const path = join(mkdtempSync(join(tmpdir(), 'provisioning-')), 'file.json');
  writeFileSync(path, text);
  return provisionFile(path, target, options);
}

test.each([
  ['{"clients": [],\n  users: []}', ' is not JSON at line 2, column 3.'],
  ['{"clients": [', ' is not JSON: it ends too early.'],
  ['\uFEFF{}', ' has 5 faults.'],
])('%j: what is wrong with it, and where', async (text, message) => {
  await expect(provisionText(text)).rejects.toThrow(message);
});

test('a list that stands twice in the file is a fault: the first would be lost, and its entries removed', async () => {
  const text = JSON.stringify({ ...demo, again: [] }).replace('"again"', '"users"');
  await expect(provisionText(text)).rejects.toThrow('users: the key is there twice');
  expect(await everything()).toEqual({ directory: [], channels: [], credentials: [], secrets: [] });
});

test.each(['', 'not json', '[]', '{"demo":{"accessToken":1}}', '{"demo":{"accessToken":"canary-token"}}'])(
  'stored platform credentials that cannot be read are blamed, and not the file: %j',
  async (stored) => {
    secrets.texts.set('PLATFORM_CREDENTIALS_SECRET', stored);
    const attempt = provisionFile(demoFile, target, { nowMs });
    await expect(attempt).rejects.toThrow(
      new CommandError(
        'Nothing was written: what is stored in the secret PLATFORM_CREDENTIALS_SECRET are no platform credentials that ' +
          'can be read; put its last good value back, or write {} into it and provision with every platform ' +
          'credential in the file.',
        1,
      ),
    );
    secrets.texts.set('PLATFORM_CREDENTIALS_SECRET', '{}');
    expect(await provisionFile(demoFile, target, { nowMs })).toMatchObject({ passwordsHashed: 4 });
  },
);

test('too many credentials for one secret move to the secrets of their groups, and stay there', async () => {
  const some = (count: number) => [...demo.platform_credentials, ...someCredentials(count)];
  await provision(demo, target, { nowMs });
  const single = secrets.texts.get('PLATFORM_CREDENTIALS_SECRET') ?? '';
  await provision({ ...demo, platform_credentials: some(300) }, target, { nowMs });
  const inGroups = () => secrets.written.filter((name) => name.startsWith('PLATFORM_CREDENTIALS_SECRET'));
  // The write that announces the groups comes last: until then the single secret stays valid.
  expect(inGroups().at(-1)).toBe('PLATFORM_CREDENTIALS_SECRET');
  expect(new Set(inGroups()).size).toBe(33);
  const credentialOf = platformCredentials(
    async (suffix) => secrets.texts.get(`PLATFORM_CREDENTIALS_SECRET${suffix}`) ?? '',
    nowMs,
  );
  expect(await credentialOf('waba-299')).toEqual({ accessToken: 'x'.repeat(250), appId: '500000000000001' });
  const name = demo.platform_credentials[0]?.name ?? '';
  expect(await credentialOf(name)).toEqual(JSON.parse(single)[name]);

  secrets.written.length = 0;
  await provision({ ...demo, platform_credentials: some(300) }, target, { nowMs });
  expect(inGroups()).toEqual([]);
  // No WABA uses these credentials, and the file no longer has them: every group loses them.
  await provision(demo, target, { nowMs, removalsAllowed: 300 });
  expect(await readCredentials(target)).toEqual({ credentials: JSON.parse(single), grouped: true });
  expect([...secrets.texts.values()].join()).not.toContain('xxx');
});

test('more credentials than there is room for are refused before anything is written', async () => {
  const before = await everything();
  const many = someCredentials(9_000);
  const attempt = provision({ ...demo, platform_credentials: [...demo.platform_credentials, ...many] }, target, {
    nowMs,
  });
  await expect(attempt).rejects.toThrow('Nothing was written: there are more platform credentials than');
  expect(await everything()).toEqual(before);
});

test('a dry run ends as the run would: another run under way, faults; removals are shown (D36)', async () => {
  await provision(demo, target, { nowMs });
  const users = demo.users.filter(({ username }) => username !== 'agent1001');
  const text = JSON.stringify({ ...demo, users });
  const before = await everything();
  await expect(provisionText(text)).rejects.toMatchObject({ exitStatus: 1 });
  const removed = [{ change: 'removed', kind: 'user', name: 'agent1001', fields: [] }];
  expect(await provisionText(text, { dryRun: true })).toMatchObject({ passwordsHashed: 0, lines: removed });

  const { documentClient, tableName } = target;
  const run = await provisioningStore({ documentClient, tableName, nowMs }).begin('another');
  const dry = provisionFile(demoFile, target, { nowMs, dryRun: true });
  await expect(dry).rejects.toThrow('another run of provisioning is under way');
  await run.end();
  await expect(provisionText('{}', { dryRun: true })).rejects.toMatchObject({ exitStatus: 1 });
  expect(await everything()).toEqual(before);
});

test('a path is relative to the folder in which npm was called', () => {
  vi.stubEnv('INIT_CWD', '/somewhere');
  expect(callersPath('clients.json')).toBe('/somewhere/clients.json');
  expect(callersPath('/else/clients.json')).toBe('/else/clients.json');
  vi.stubEnv('INIT_CWD', undefined);
  expect(callersPath('clients.json')).toBe(join(process.cwd(), 'clients.json'));
  vi.unstubAllEnvs();
});

test('a file with fewer entries is refused with what would be removed, and how to allow it', async () => {
  await provision(demo, target, { nowMs });
  const users = demo.users.filter(({ username }) => username !== 'agent1001');
  const text = JSON.stringify({ ...demo, users });
  await expect(provisionText(text)).rejects.toEqual(
    new CommandError(
      '- user agent1001\nNothing was written: 1 entry would be removed. ' +
        'If that is meant, repeat with --allow-removals 1 --yes',
      1,
    ),
  );
  const refusal = await provisionText(text).catch((error: CommandError) => error);
  expect(refusalAsJson(refusal as CommandError, false)).toMatchObject({
    ...{ refused: '1 entry would be removed', dry_run: false, removals: 1 },
    changes: [{ change: 'removed', kind: 'user', entry: 'agent1001', fields: [] }],
  });
  const faulty = await provisionText('{}').catch((error: CommandError) => error);
  expect(refusalAsJson(faulty as CommandError, true)).toMatchObject({
    ...{ dry_run: true, refused: expect.any(String) },
    faults: expect.arrayContaining([{ path: 'clients', message: expect.any(String) }]),
  });
  const report = await provisionText(text, { removalsAllowed: 1 });
  expect(describeReport(report)).toBe(
    '- user agent1001\n3 clients, 2 WABAs, 3 channels, 3 campaigns, 3 users are provisioned\n' +
      'passwords that are new or changed: 0\ntoken keys: already there; sealing keys: already there; key of people: already there',
  );
});

test('while another run is under way, the command says until when', async () => {
  const { documentClient, tableName } = target;
  await provisioningStore({ documentClient, tableName, nowMs }).begin('another');
  await expect(provisionFile(demoFile, target, { nowMs })).rejects.toThrow(
    'the way is free at 2026-11-20T12:02:00.000Z',
  );
});

test('a dry run shows the changes and the clients to synchronize, and writes nothing', async () => {
  const shown = describeReport(await provisionFile(demoFile, target, { nowMs, dryRun: true }), true).split('\n');
  expect(shown.slice(0, 2)).toEqual(['+ client 1', '+ client 1001']);
  expect(shown.slice(-5)).toEqual([
    '3 clients, 2 WABAs, 3 channels, 3 campaigns, 4 users would be provisioned',
    'passwords that are new or changed: 4',
    'token keys: would be created; sealing keys: would be created; key of people: would be created',
    'run a synchronization for client 1001: it got a WABA',
    'run a synchronization for client 1002: it got a WABA',
  ]);
  expect(await everything()).toEqual({ directory: [], channels: [], credentials: [], secrets: [] });
});
