import { beforeEach, expect, test } from 'vitest';
import demo from '../../../infra/local/demo/provisioning.json' with { type: 'json' };
import { provision } from '../../../infra/operate/tables/provisioning-run.ts';
import type { Target } from '../../../infra/operate/target.ts';
import { lineText } from '../../../lib/provisioning/plan-lines.ts';
import { provisionedIn, provisioningTarget } from '../../support/provisioning-target.ts';
import type { SecretsInMemory } from '../../support/secrets.ts';

const nowMs = () => Date.UTC(2026, 10, 20, 12);
const part = { part: true, nowMs };
const other = { name: 'other', access_token: 'other-token', app_id: '1' };
const whole = {
  ...demo,
  clients: demo.clients.map((each) => ({
    ...each,
    zone: 'Europe/Madrid',
    monthly_budget: { amount: 100, stop: true },
  })),
  wabas: demo.wabas.map((each) => ({ ...each, dids: 'own', platform_stops: 'waba' })),
  channels: demo.channels.map((each) => ({ ...each, messaging_account_id: each.waba_id })),
  platform_credentials: [...demo.platform_credentials, other],
  opt_out_words: { stop: ['baja'], start: ['alta'] },
};

let target: Target;
let secrets: SecretsInMemory;

beforeEach(async () => {
  ({ target, secrets } = await provisioningTarget());
  await provision(whole, target, { nowMs });
});

const everything = () => provisionedIn(target, secrets);

test('a part without entries changes nothing: what is stored is described to the last field', async () => {
  const before = await everything();
  expect(await provision({}, target, part)).toMatchObject({ lines: [], passwordsHashed: 0, clientsToSynchronize: [] });
  expect(await everything()).toEqual(before);
});

test('a client, its user and its channel are added; all others stay, and the platform is asked about no other WABA', async () => {
  const before = await everything();
  const [waba] = demo.wabas;
  const added = {
    clients: [{ client_id: 1003, name: 'Cumbre' }],
    wabas: [{ ...waba, dids: 'own', platform_stops: 'waba', client_ids: [1001, 1002, 1003] }],
    campaigns: [{ campaign_id: 30, client_id: 1003, name: 'First' }],
    users: [{ username: 'agent1003', client_id: 1003, password: 'a-password', permissions: [], campaign_ids: [30] }],
  };
  const asked: string[] = [];
  const report = await provision(added, target, {
    ...part,
    platform: async ({ path }) => {
      asked.push(path);
      return { body: { data: [] } };
    },
    dryRun: true,
  });
  expect(new Set(asked)).toEqual(new Set([`${waba?.waba_id}/subscribed_apps`]));
  expect(await everything()).toEqual(before);
  const done = await provision(added, target, part);
  expect(done.lines).toEqual(report.lines);
  expect(done.lines.map(lineText).toSorted()).toEqual(
    expect.arrayContaining(['+ campaign 30', '+ client 1003', '+ user agent1003']),
  );
  expect(done.lines.filter(({ change }) => change === 'removed')).toEqual([]);
  const after = await everything();
  expect(after.credentials.filter(({ pk }) => !String(pk).includes('agent1003'))).toEqual(before.credentials);
  expect(after.secrets).toEqual(before.secrets);
});

test('a user is changed, and all other users keep their passwords', async () => {
  const before = await everything();
  const [user] = demo.users;
  const report = await provision({ users: [{ ...user, password: 'another-password' }] }, target, part);
  expect(report).toMatchObject({ passwordsHashed: 1, lines: [expect.objectContaining({ change: 'changed' })] });
  const after = await everything();
  const isOther = ({ userId }: Record<string, unknown>) => userId !== user?.username;
  expect(after.credentials.filter(isOther)).toEqual(before.credentials.filter(isOther));
  expect([after.directory, after.channels, after.secrets]).toEqual([before.directory, before.channels, before.secrets]);
});

test('a part without some clients of a WABA would remove rights: it is refused as a removal', async () => {
  const before = await everything();
  const [waba] = demo.wabas;
  await expect(provision({ wabas: [{ ...waba, client_ids: [1001] }], channels: [] }, target, part)).rejects.toThrow();
  expect(await everything()).toEqual(before);
});

test('faults are told by the paths of the part, also those with what is stored', async () => {
  const fault = {
    users: [{ username: 'agent1003', client_id: 9, password: 'a-password', permissions: [], campaign_ids: [] }],
  };
  await expect(provision(fault, target, part)).rejects.toThrow('users[0].client_id: client 9 is not in the file');
  const taken = { channels: [{ ...demo.channels[0], channel_id: 504, name: 'Another' }] };
  await expect(provision(taken, target, part)).rejects.toThrow('is there twice, at channels[0].did first');
  await expect(provision({ user: [] }, target, part)).rejects.toThrow('user');
  await expect(provision([], target, part)).rejects.toThrow();
});
