import { afterAll, expect, test } from 'vitest';
import demo from '../../infra/local/demo/provisioning.json' with { type: 'json' };
import { provision } from '../../infra/operate/tables/provisioning-run.ts';
import { as, synchronize } from '../support/api.ts';
import { runningTarget } from '../support/running-target.ts';
import { dispatchTo, order, sendTo } from '../support/sends.ts';

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
const reminder = {
  template: { name: 'appointment_reminder', language: 'pt_BR' },
  params: { header: ['Ana'], body: ['Ana', 'hoje', '10'] },
};
const people = ['549230000771', '549230000772'];
const sendingOf = (client: Client) => ({ user: users[client], did, of: client === 1001 ? order : reminder });
const send = (client: Client) => sendTo(people, sendingOf(client));
const dispatchOf = (client: Client) => dispatchTo(people, sendingOf(client));
const ask = (client: Client, route: string) =>
  as(users[client], route.replace('{did}', `/v1/template/messages/${did}`));
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
