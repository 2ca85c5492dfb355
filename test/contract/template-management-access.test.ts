import { beforeAll, describe, expect, test } from 'vitest';
import { type ApiReply, api, type DemoUser, platform, synchronize, tokenOf } from '../support/api.ts';
import { plainBody } from '../support/template-probes.ts';

/*
 * The three routes that manage a template on a DID, called by every kind of caller, for every client, in every place of
 * client_id, on every kind of DID. What must come back follows from D4 and D5 alone: 400, then the client, then the DID.
 * Whoever passes all of that is refused for want of something that nobody has, so that nothing is ever changed.
 */

interface Request {
  readonly user: DemoUser;
  readonly did: string;
  readonly query: string;
  readonly inBody: object;
}

const send = async (route: string, user: DemoUser, body?: unknown): Promise<ApiReply> =>
  api(route, { token: await tokenOf(user), ...(body === undefined ? {} : { body }) });

const routes: Readonly<Record<string, (request: Request) => Promise<ApiReply>>> = {
  POST: ({ user, did, query, inBody }) =>
    send(`POST /v1/templates/${did}${query}`, user, {
      name: 'access_probe',
      language: 'en_US',
      category: 'UTILITY',
      components: [plainBody],
      channel_campaigns: { channel_id: 999, campaign_id: 999 },
      ...inBody,
    }),
  PUT: ({ user, did, query, inBody }) =>
    send(`PUT /v1/templates/${did}/nobody${query}`, user, { components: [plainBody], ...inBody }),
  DELETE: ({ user, did, query }) => send(`DELETE /v1/templates/${did}/nobody${query}`, user),
};
const passed = (method: string, clientId: number) =>
  method === 'POST' ? [400, `client ${clientId} has no channel 999`] : [404, 'template not found'];

const crossClient = [403, 'BSP_CN permission required for cross-client access'];
const outside = [403, 'the did is outside the WABA hierarchy of the client'];
const outsideAdvised = [403, `${outside[1]}; pass client_id to work for another client than your own`];
const callers = [
  ['supervisor1001', 1001],
  ['supervisor1002', 1002],
  ['agent1001', 1001],
  ['operator', 1],
] as const;
/** Clients that may use each DID: those of its WABA (D5). */
const dids: readonly [string, readonly number[]][] = [
  ['5491100000001', [1001, 1002]],
  ['5491100000002', [1001, 1002]],
  ['5511900000003', [1002]],
  ['5499999999999', []],
  ['status', []],
  ['%2B5491100000001', []],
  ['5491100000001%20', []],
  ['__proto__', []],
];
const places = [
  ['nowhere', undefined],
  ['the query', 1001],
  ['the query', 1002],
  ['the query', 7777],
  ['the body', 1001],
  ['the body', 1002],
] as const;
const shown = ({ status, body }: ApiReply) => [status, body?.message];

let requestsBefore: number;
const changes = async () => {
  const counts = ['POST', 'DELETE'].map(async (method) => {
    const { body } = await platform(`GET /_control/requests?method=${method}&path=message_templates&limit=0`);
    return body.total as number;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
};
beforeAll(async () => {
  await synchronize('supervisor1001');
  requestsBefore = await changes();
});

describe.each(Object.keys(routes))('%s', (method) => {
  const route = routes[method] as (request: Request) => Promise<ApiReply>;
  const asked = places.filter(([place]) => method !== 'DELETE' || place !== 'the body');

  test.each(callers.flatMap(([user, own]) => asked.map(([place, id]) => ({ user, own, place, id }))))(
    '$user, client_id $id in $place, on every DID',
    async ({ user, own, place, id }) => {
      const query = place === 'the query' ? `?client_id=${id}` : '';
      const inBody = place === 'the body' ? { client_id: id } : {};
      for (const [did, clients] of dids) {
        const clientId = id ?? own;
        const expected = () => {
          if (user !== 'operator' && clientId !== own) return crossClient;
          if (clientId === 7777) return [400, 'invalid client_id: 7777'];
          if (clients.includes(clientId)) return passed(method, clientId);
          return user === 'operator' && id === undefined ? outsideAdvised : outside;
        };
        expect([did, ...shown(await route({ user, did, query, inBody }))]).toEqual([did, ...expected()]);
      }
    },
  );

  test('a client_id that is none is 400 before all else that needs a store', async () => {
    const did = '5499999999999';
    const spelled = ['abc', '', '0', '-1001', '1e3', '01001', '1001.0', '1001,1001', '9007199254740992'];
    for (const value of spelled) {
      const reply = await route({ user: 'supervisor1001', did, query: `?client_id=${value}`, inBody: {} });
      expect(shown(reply)).toEqual([400, `invalid client_id: ${value}`]);
      expect(reply.body.code).toBe('invalid_client_id');
    }
    if (method === 'DELETE') return;
    for (const value of ['1001', null, true, 1001.5, -1, 2 ** 53, [1001]]) {
      const reply = await route({ user: 'supervisor1001', did, query: '', inBody: { client_id: value } });
      const said = typeof value === 'string' ? value : JSON.stringify(value);
      expect(shown(reply)).toEqual([400, `invalid client_id: ${said}`]);
    }
    const differ = await route({ user: 'operator', did, query: '?client_id=1001', inBody: { client_id: 1002 } });
    expect(shown(differ)).toEqual([400, 'invalid client_id: 1001 in the query, 1002 in the body']);
  });

  test('a DID of nobody and one of somebody else cannot be told apart', async () => {
    const ask = (did: string) => route({ user: 'supervisor1001', did, query: '', inBody: {} });
    const [nobodys, theirs] = [await ask('5499999999999'), await ask('5511900000003')];
    expect(nobodys.text).toBe(theirs.text);
    expect(nobodys.body.code).toBe('did_forbidden');
  });
});

test('none of it has reached the platform', async () => {
  expect(await changes()).toBe(requestsBefore);
});
