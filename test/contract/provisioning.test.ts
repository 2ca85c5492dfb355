import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import demo from '../../infra/local/demo/provisioning.json' with { type: 'json' };
import { noteLocalStack } from '../../infra/operate/local-stacks.ts';
import { provision } from '../../infra/operate/tables/provisioning-run.ts';
import { api, platform, synchronize } from '../support/api.ts';
import { runScript } from '../support/processes.ts';
import { runningStack, runningTarget } from '../support/running-target.ts';
import { bodyTo, dispatchTo, orderParams, type ReportRow, reportOf } from '../support/sends.ts';

const username = 'passing1003';
const password = 'passing-password';
const did = '5491100000777';

/** The demo file gets one more client with a user, a campaign and a number without a name, while the test lasts. */
const joined = {
  ...demo,
  clients: [...demo.clients, { client_id: 1003, name: 'Passing guest' }],
  wabas: demo.wabas.map((waba, index) => (index === 0 ? { ...waba, client_ids: [...waba.client_ids, 1003] } : waba)),
  channels: [
    ...demo.channels,
    {
      channel_id: 777,
      did,
      client_id: 1003,
      waba_id: '200000000000001',
      phone_number_id: '300000000000777',
      throughput_per_second: 80,
    },
  ],
  campaigns: [...demo.campaigns, { campaign_id: 77, client_id: 1003, name: 'Passing' }],
  users: [...demo.users, { username, client_id: 1003, password, permissions: [], campaign_ids: [77] }],
};

const logIn = () => api('POST /login', { body: { username, password } });

test('a removed user cannot log in and sees nothing, a removed number cannot send (D36)', async () => {
  const target = runningTarget();
  expect(await provision(joined, target)).toMatchObject({ clientsToSynchronize: [1003] });
  const { status, body } = await logIn();
  expect(status).toBe(200);
  const token: string = body.access_token;
  const of = { template: { name: 'none', language: 'en_US' } };
  const send = () => api(`POST /v1/template/messages/${did}`, { token, body: bodyTo(['5491155550001'], { of, did }) });
  const list = () => api('GET /v1/templates', { token });
  const before = [await send(), await list()];
  expect(before.map((reply) => reply.status)).toEqual([404, 200]);
  // An empty name counts as none.
  const { body: channels } = await api('GET /v1/client-messaging-channels?fields=did,name', { token });
  expect(channels.data).toEqual([{ did, name: null }]);

  const { lines } = await provision(demo, target, { removalsAllowed: 5 });
  expect(lines.filter(({ change }) => change === 'removed')).toHaveLength(5);
  expect((await logIn()).status).toBe(401);
  expect(await send()).toMatchObject({ status: 403, body: { code: 'did_forbidden' } });
  expect(await list()).toMatchObject({ status: 400, body: { code: 'agent_without_campaigns' } });
});

test('a dry run ends with 3 when something would change, with 0 when nothing would, with 1 and 2 when refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'provision-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'clients.json');
  const stack = runningStack();
  onTestFinished(noteLocalStack(stack));
  const environment = { PORT: new URL(stack.apiUrl).port };
  const run = async (data: unknown, ...more: readonly string[]) => {
    writeFileSync(file, JSON.stringify(data));
    const given = { arguments: ['provision', file, ...more], environment };
    return (await runScript('infra/operate/ops.ts', given).ended).code;
  };
  const dryRun = (data: unknown, ...more: readonly string[]) => run(data, '--dry-run', ...more);
  await provision(demo, runningTarget());
  const renamed = demo.campaigns.map((campaign, index) => (index === 0 ? { ...campaign, name: 'Renamed' } : campaign));
  const fewer = { ...demo, users: demo.users.slice(0, -1) };
  expect(await dryRun(demo)).toBe(0);
  expect(await dryRun({ ...demo, campaigns: renamed })).toBe(3);
  expect(await dryRun(fewer)).toBe(3);
  // A run that removes wants --yes, too.
  expect(await run(fewer, '--allow-removals', '1')).toBe(1);
  expect(await dryRun({ ...demo, users: 1 })).toBe(1);
  expect(await dryRun(demo, '--dryrun')).toBe(2);
});

test('from the next send on the account that the file names is named: the platform takes that of the number’s WABA on both edges; any other fails the message alone (100)', async () => {
  const target = runningTarget();
  const [channel] = demo.channels;
  const from = channel?.did ?? '';
  const wabaId = channel?.waba_id ?? '';
  const first = 5_491_166_000_000 + Math.floor(Math.random() * 10_000) * 10;
  const withAccount = (account: object) => ({
    ...demo,
    channels: demo.channels.map((each) => (each.did === from ? { ...each, ...account } : each)),
  });
  /** Sends to the recipient at that place, and returns its row once it is no longer pending. */
  const rowOf = async (name: string, place: number): Promise<ReportRow> => {
    const params = name === 'order_update' ? orderParams : undefined;
    const of = { template: { name, language: 'en_US' }, params };
    const dispatchId = await dispatchTo([String(first + place)], { of, did: from });
    return (await reportOf(dispatchId, ({ counts }) => counts.pending === 0, { did: from })).data[0];
  };
  const taken = async (place: number) => {
    const { body } = await platform(`GET /_control/messages?to=${first + place}`);
    return body.data.map(({ path, request }: { path: string; request: { messaging_account_id?: string } }) => [
      path.split('/').at(-1),
      request.messaging_account_id,
    ]);
  };
  await synchronize('supervisor1001');
  try {
    await provision(withAccount({ messaging_account_id: wabaId }), target);
    expect([await rowOf('order_update', 0), await rowOf('bid_offer', 1)]).toMatchObject([
      { state: 'sent' },
      { state: 'sent' },
    ]);
    expect([await taken(0), await taken(1)]).toEqual([[['messages', wabaId]], [['marketing_messages', wabaId]]]);

    await provision(withAccount({ messaging_account_id: '200000000000002' }), target);
    expect(await rowOf('order_update', 2)).toMatchObject({ state: 'failed', code: '100' });
    expect(await rowOf('bid_offer', 3)).toMatchObject({ state: 'failed', code: '100' });
    expect([await taken(2), await taken(3)]).toEqual([[], []]);

    await provision(demo, target);
    expect([await rowOf('order_update', 4), await rowOf('bid_offer', 5)]).toMatchObject([
      { state: 'sent' },
      { state: 'sent' },
    ]);
    expect(await taken(4)).toEqual([['messages', undefined]]);
  } finally {
    await provision(demo, target);
  }
});
