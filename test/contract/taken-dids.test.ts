import { afterAll, expect, test } from 'vitest';
import demo from '../../infra/local/demo/provisioning.json' with { type: 'json' };
import { provision } from '../../infra/operate/tables/provisioning-run.ts';
import { type ApiReply, api, synchronize, tokenOf } from '../support/api.ts';
import { runningTarget } from '../support/running-target.ts';

const did = '5491100000779';

/** Adds a number of a client on one of its WABAs to the demo file; the second WABA belongs to client 1002 alone. */
const withNumberOf = (client_id: number, waba_id: string) => ({
  ...demo,
  channels: [
    ...demo.channels,
    {
      ...{ channel_id: 779, did, name: 'Passing line', client_id, waba_id },
      ...{ phone_number_id: '300000000000779', throughput_per_second: 80 },
    },
  ],
});
const withoutIt = () => provision(demo, runningTarget(), { removalsAllowed: 1 });
afterAll(withoutIt);

const users = { 1001: 'supervisor1001', 1002: 'supervisor1002' } as const;
type Client = keyof typeof users;
const templates = {
  1001: { name: 'order_update', params: { body: ['Ana', 'A-1'], buttons: ['A-1'] } },
  1002: { name: 'appointment_reminder', params: { header: ['Ana'], body: ['Ana', 'hoje', '10'] } },
};

const ask = async (client: Client, route: string, body?: unknown): Promise<ApiReply> =>
  api(route.replace('{did}', `/v1/template/messages/${did}`), { token: await tokenOf(users[client]), body });
const send = (client: Client) =>
  ask(client, 'POST {did}', {
    ...{ did, type: 'template', channel: 'MESSAGING' },
    template: { name: templates[client].name, language: client === 1001 ? 'en_US' : 'pt_BR' },
    recipients: ['549230000771', '549230000772'].map((to) => ({ to, params: templates[client].params })),
  });
const dispatchOf = async (client: Client): Promise<string> => {
  const reply = await send(client);
  expect(reply.status, reply.text).toBe(200);
  return reply.headers.get('dispatch-id') ?? '';
};
const listed = async (client: Client, query = '') => {
  const { status, body } = await ask(client, `GET {did}${query}`);
  return body.data?.map(({ dispatch_id }: { dispatch_id: string }) => dispatch_id) ?? [status, body.code];
};
const isMine = async (client: Client, dispatchId: string) => {
  for (const method of ['GET', 'DELETE']) {
    const { status, body } = await ask(client, `${method} {did}/${dispatchId}`);
    expect([status, body.client_id, body.did, body.total]).toEqual([200, client, did, 2]);
  }
};
const isNotMine = async (client: Client, dispatchId: string) => {
  for (const method of ['GET', 'DELETE']) {
    const { status, body } = await ask(client, `${method} {did}/${dispatchId}`);
    expect([status, body]).toEqual([404, { code: 'dispatch_not_found', message: 'dispatch not found' }]);
  }
};

test('what was sent on a DID is told to its sender, whatever becomes of the DID, and to no other client (D40, D53)', async () => {
  await Promise.all([synchronize('supervisor1001'), synchronize('supervisor1002')]);
  await provision(withNumberOf(1001, '200000000000001'), runningTarget());
  const first = await dispatchOf(1001);

  await withoutIt();
  expect((await send(1001)).body.code).toBe('did_forbidden');
  expect(await listed(1001)).toEqual([first]);
  // This page is empty, although the list is not.
  expect(await listed(1001, '?to=2026-01-01T00:00:00Z')).toEqual([]);
  await isMine(1001, first);
  expect(await listed(1002)).toEqual([403, 'did_forbidden']);
  await isNotMine(1002, first);

  await provision(withNumberOf(1002, '200000000000002'), runningTarget());
  const second = await dispatchOf(1002);
  expect(await listed(1002)).toEqual([second]);
  expect(await listed(1001)).toEqual([first]);
  expect((await send(1001)).body.code).toBe('did_forbidden');
  await isNotMine(1001, second);
  await isNotMine(1002, first);
  await isMine(1002, second);
  await isMine(1001, first);
});
