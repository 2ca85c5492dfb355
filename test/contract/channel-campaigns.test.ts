import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ApiReply, api, type DemoUser, synchronize, tokenOf } from '../support/api.ts';
import { campaigns, channels, clients, dids, wabas } from '../support/demo.ts';

/**
 * `own` and `theirs` are the ids of 1001 and 1002 for one template of their shared WABA; `elsewhere` is of a WABA of
 * 1002 alone.
 */
let own: string;
let theirs: string;
let elsewhere: string;
const name = 'order_update';

const path = (id: string, query = '') => `/v1/templates/${encodeURIComponent(id)}/channel-campaigns${query}`;
const grouped = (user: DemoUser, id: string, query = '') =>
  call(user, `GET /v1/templates/${encodeURIComponent(id)}/channel-campaigns-grouped${query}`);

async function call(user: DemoUser, route: string, body?: unknown): Promise<ApiReply> {
  return api(route, { token: await tokenOf(user), body });
}

async function listed(user: DemoUser, query: string) {
  return (await call(user, `GET /v1/templates?${query}`)).body;
}

async function idOf(clientId: number, query: string): Promise<string> {
  const { data } = await listed('operator', `client_id=${clientId}&fields=id&size=1&${query}`);
  return data[0].id;
}

const pair = (channelId: number, campaignId: number) => ({ channel_id: channelId, campaign_id: campaignId });
const add = (user: DemoUser, id: string, pairs: unknown, query = '') =>
  call(user, `POST ${path(id, query)}`, { channel_campaigns: pairs });
const replace = (user: DemoUser, id: string, pairs: unknown, query = '') =>
  call(user, `PUT ${path(id, query)}`, { channel_campaigns: pairs });
const remove = (user: DemoUser, id: string, query = '') => call(user, `DELETE ${path(id, query)}`);

const group = (id: number, campaign: string) => ({
  campaign_id: id,
  campaign_name: campaign,
  channels: [
    { channel_id: channels.andes, name: 'Andes sales', did: dids.andes, type: 'MESSAGING', waba_id: wabas.shared },
  ],
});

beforeAll(async () => {
  await synchronize('supervisor1001');
  await synchronize('supervisor1002');
  own = await idOf(clients.andes, `name=${name}`);
  theirs = await idOf(clients.boreal, `name=${name}`);
  const { data } = await listed('operator', `client_id=${clients.boreal}&fields=id,waba_id&size=100`);
  elsewhere = data.find((template: { waba_id: string }) => template.waba_id === wabas.boreal).id;
});

/** Other tests expect the demo templates unassigned, as they are seeded. */
async function unassignAll(): Promise<void> {
  for (const clientId of [clients.andes, clients.boreal]) {
    const id = await idOf(clientId, `name=${name}`);
    await remove('operator', id, `?client_id=${clientId}`);
  }
}
afterEach(unassignAll);
afterAll(async () => {
  const { total } = await listed('operator', `client_id=${clients.andes}&campaign_name=Unassigned`);
  expect(total).toBe(21);
});

describe('assigning', () => {
  test('POST: 201, the placeholder keeps its _id, groups show everything, the list filters by it', async () => {
    const first = await add('supervisor1001', own, [pair(channels.andes, campaigns.collections)]);
    expect(first).toMatchObject({ status: 201, text: JSON.stringify({ ids: [own], success: true }) });
    const second = await add('supervisor1001', own, [
      pair(channels.andes, campaigns.onboarding),
      pair(channels.andes, campaigns.collections),
    ]);
    expect(second).toMatchObject({ status: 201, body: { ids: [expect.any(String), own], success: true } });
    const [sibling] = second.body.ids;
    expect(sibling).not.toBe(own);

    const groups = [group(campaigns.onboarding, 'Onboarding'), group(campaigns.collections, 'Collections')];
    for (const id of [own, sibling, theirs]) {
      const reply = await grouped('supervisor1001', id);
      expect([reply.status, reply.body]).toEqual([200, groups]);
    }
    const inList = await listed('supervisor1001', 'campaign_name=Onboarding');
    expect(inList).toMatchObject({ total: 1, data: [{ id: own, platform_template: { name } }] });
    // The listing shows the same groups, without the channels' WABA.
    const withoutWaba = JSON.parse(JSON.stringify(groups, (key, value) => (key === 'waba_id' ? undefined : value)));
    expect(inList.data[0].channel_campaigns).toEqual(withoutWaba);
    expect((await listed('supervisor1001', `did=${dids.andes}`)).total).toBe(1);
    expect((await listed('supervisor1001', 'campaign_name=Unassigned')).total).toBe(20);
  });

  test('siblings share everything with the original, its inactive state too (D14)', async () => {
    const switched = (action: string) =>
      call('supervisor1001', 'PATCH /v1/templates/status', { action, templates: [own] });
    const entry = async () => (await listed('operator', `client_id=${clients.andes}&name=${name}`)).data[0];
    await switched('disable');
    const before = await entry();
    await add('supervisor1001', own, [
      pair(channels.andes, campaigns.onboarding),
      pair(channels.andes, campaigns.collections),
    ]);
    const { channel_campaigns, ...after } = await entry();
    await switched('enable');
    expect({ ...after, channel_campaigns: [] }).toEqual({ ...before, active: false });
    expect(channel_campaigns).toHaveLength(2);
  });

  test('POST with an empty or absent list, or without a body, adds nothing', async () => {
    for (const body of [{ channel_campaigns: [] }, {}, undefined]) {
      const reply = await call('supervisor1001', `POST ${path(own)}`, body);
      expect(reply).toMatchObject({ status: 201, text: '{"ids":[],"success":true}' });
    }
    expect((await grouped('supervisor1001', own)).body).toEqual([]);
  });

  test('PUT makes the pairs exactly the given ones and keeps the _id of those that stay', async () => {
    const { body } = await add('supervisor1001', own, [
      pair(channels.andes, campaigns.onboarding),
      pair(channels.andes, campaigns.collections),
    ]);
    const [, kept] = body.ids;
    const reply = await replace('supervisor1001', own, [pair(channels.andes, campaigns.collections)]);
    expect(reply).toMatchObject({ status: 200, text: '{"ids":null,"success":true}' });
    expect((await grouped('supervisor1001', kept)).body).toEqual([group(campaigns.collections, 'Collections')]);
    // The document of the other pair is deleted, and its `_id` with it.
    expect(await grouped('supervisor1001', own)).toMatchObject({ status: 404 });
    const cleared = await replace('supervisor1001', kept, []);
    expect(cleared).toMatchObject({ status: 200, text: '{"ids":null,"success":true}' });
    expect((await grouped('supervisor1001', kept)).body).toEqual([]);
    own = kept;
  });

  test('DELETE leaves the placeholder; the template is listed as unassigned again', async () => {
    await add('supervisor1001', own, [
      pair(channels.andes, campaigns.onboarding),
      pair(channels.andes, campaigns.collections),
    ]);
    expect((await listed('supervisor1001', '')).total).toBe(1);
    const reply = await remove('supervisor1001', own);
    expect(reply).toMatchObject({ status: 200, text: '{"ids":null,"success":true}' });
    expect((await grouped('supervisor1001', own)).body).toEqual([]);
    expect((await listed('supervisor1001', '')).total).toBe(0);
    const unassigned = await listed('supervisor1001', `campaign_name=Unassigned&name=${name}`);
    expect(unassigned.data).toMatchObject([{ id: own, channel_campaigns: [] }]);
    expect(await remove('supervisor1001', own)).toMatchObject({ status: 200 });
  });

  test('two clients of one WABA do not disturb each other, whichever client’s _id is named (D12)', async () => {
    await add('supervisor1001', theirs, [pair(channels.andes, campaigns.onboarding)]);
    await add('supervisor1002', own, [pair(channels.boreal, campaigns.reminders)]);
    expect((await grouped('supervisor1001', own)).body).toEqual([group(campaigns.onboarding, 'Onboarding')]);
    const ofTheirs = (await grouped('supervisor1002', theirs)).body;
    expect(ofTheirs).toMatchObject([{ campaign_id: campaigns.reminders, channels: [{ channel_id: channels.boreal }] }]);
    await remove('supervisor1001', theirs);
    expect((await grouped('supervisor1001', own)).body).toEqual([]);
    expect((await grouped('supervisor1002', theirs)).body).toEqual(ofTheirs);
  });

  test('an operator works for the client named in the query or the body; a GET shows that client’s groups', async () => {
    await add('operator', own, [pair(channels.andes, campaigns.onboarding)], `?client_id=${clients.andes}`);
    await call('operator', `PUT ${path(own)}`, {
      client_id: clients.boreal,
      channel_campaigns: [pair(channels.boreal, campaigns.reminders)],
    });
    expect((await grouped('operator', own, `?client_id=${clients.andes}`)).body).toEqual([
      group(campaigns.onboarding, 'Onboarding'),
    ]);
    expect((await grouped('operator', own, `?client_id=${clients.boreal}`)).body).toMatchObject([
      { campaign_id: campaigns.reminders },
    ]);
    await remove('operator', own, `?client_id=${clients.boreal}`);
    expect((await grouped('supervisor1002', theirs)).body).toEqual([]);
    expect((await grouped('supervisor1001', own)).body).toEqual([group(campaigns.onboarding, 'Onboarding')]);
  });

  test('assignments outlast a synchronization', async () => {
    await add('supervisor1001', own, [pair(channels.andes, campaigns.onboarding)]);
    await synchronize('supervisor1001');
    expect((await grouped('supervisor1001', own)).body).toEqual([group(campaigns.onboarding, 'Onboarding')]);
  });

  test('calls at the same time are each carried out in full', async () => {
    const replies = await Promise.all([
      add('supervisor1001', own, [pair(channels.andes, campaigns.onboarding)]),
      add('supervisor1001', own, [pair(channels.andes, campaigns.collections)]),
      add('supervisor1002', theirs, [pair(channels.boreal, campaigns.reminders)]),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(replies.flatMap(({ body }) => body.ids)).size).toBe(3);
    expect((await grouped('supervisor1001', own)).body).toHaveLength(2);
    expect((await grouped('supervisor1002', theirs)).body).toHaveLength(1);
  });
});

describe('refusals', () => {
  const routes = {
    GET: (user: DemoUser, id: string, query = '') => grouped(user, id, query),
    POST: (user: DemoUser, id: string, query = '') =>
      add(user, id, [pair(channels.andes, campaigns.onboarding)], query),
    PUT: (user: DemoUser, id: string, query = '') =>
      replace(user, id, [pair(channels.andes, campaigns.onboarding)], query),
    DELETE: (user: DemoUser, id: string, query = '') => remove(user, id, query),
  };
  const all = Object.entries(routes);
  const shown = ({ status, body }: ApiReply) => [status, body.message, body.code];

  test.each(all)('%s: another client without BSP_CN is 403', async (_, request) => {
    expect(shown(await request('supervisor1001', own, `?client_id=${clients.boreal}`))).toEqual([
      403,
      'BSP_CN permission required for cross-client access',
      'cross_client_forbidden',
    ]);
  });

  test.each(all)('%s: a template that is not there for the client is 404', async (_, request) => {
    for (const id of ['x', `${own}9`, elsewhere]) {
      expect(shown(await request('supervisor1001', id))).toEqual([404, 'template not found', 'template_not_found']);
    }
  });

  test.each([
    ['POST', add],
    ['PUT', replace],
  ] as const)(
    '%s: a channel or campaign that the client does not have is 400 naming it, and nothing is assigned',
    async (_, request) => {
      const cases: [ReturnType<typeof pair>[], string, string[]][] = [
        [
          [pair(999, campaigns.onboarding)],
          `client ${clients.andes} has no channel 999`,
          ['channel_campaigns[0].channel_id'],
        ],
        [
          [pair(channels.andes, campaigns.onboarding), pair(channels.andes, 999)],
          `client ${clients.andes} has no campaign 999`,
          ['channel_campaigns[1].campaign_id'],
        ],
        [
          [pair(channels.boreal, campaigns.reminders)],
          `client ${clients.andes} has no channel ${channels.boreal}`,
          ['channel_campaigns[0].channel_id', 'channel_campaigns[0].campaign_id'],
        ],
      ];
      for (const [pairs, message, paths] of cases) {
        const reply = await request('supervisor1001', own, pairs);
        expect(shown(reply)).toEqual([400, message, 'invalid_request']);
        expect(reply.body.errors.map((fault: { path: string }) => fault.path)).toEqual(paths);
      }
      expect((await grouped('supervisor1001', own)).body).toEqual([]);
    },
  );

  test('PUT without the list changes nothing; only an empty list empties (D14)', async () => {
    await replace('supervisor1001', own, [pair(channels.andes, campaigns.onboarding)]);
    const assigned = [group(campaigns.onboarding, 'Onboarding')];
    const put = (body?: unknown) => call('supervisor1001', `PUT ${path(own)}`, body);
    for (const body of [undefined, {}, { client_id: clients.andes }]) {
      expect(await put(body)).toMatchObject({ status: 200, text: '{"ids":null,"success":true}' });
      expect((await grouped('supervisor1001', own)).body).toEqual(assigned);
    }
    const misspelt = await put({ channelCampaigns: [pair(channels.andes, campaigns.collections)] });
    expect(shown(misspelt)).toEqual([
      400,
      'unrecognized field: channelCampaigns; did you mean channel_campaigns?',
      'invalid_request',
    ]);
    expect(
      (await put({ channel_campaigns: [{ ...pair(channels.andes, campaigns.collections), campaign: 1 }] })).status,
    ).toBe(400);
    expect((await grouped('supervisor1001', own)).body).toEqual(assigned);
    expect(await put({ channel_campaigns: [] })).toMatchObject({ status: 200, text: '{"ids":null,"success":true}' });
    expect((await grouped('supervisor1001', own)).body).toEqual([]);
  });

  test.each([
    ['POST', add],
    ['PUT', replace],
  ] as const)('%s: a channel of another WABA than the template’s is 400 naming it (D14)', async (_, request) => {
    const reply = await request('supervisor1002', theirs, [
      pair(channels.boreal, campaigns.reminders),
      pair(channels.saoPaulo, campaigns.reminders),
    ]);
    const message = `channel ${channels.saoPaulo} is on WABA ${wabas.boreal}, the template on WABA ${wabas.shared}`;
    expect(shown(reply)).toEqual([400, message, 'invalid_request']);
    expect(reply.body.errors).toEqual([{ path: 'channel_campaigns[1].channel_id', message }]);
  });

  test.each(['POST', 'PUT'])('%s: a body that is not understood is 400', async (method) => {
    const bodies = [
      '{',
      { channel_campaigns: null },
      { channel_campaigns: Array.from({ length: 501 }, () => pair(channels.andes, campaigns.onboarding)) },
    ];
    for (const body of bodies) expect((await call('supervisor1001', `${method} ${path(own)}`, body)).status).toBe(400);
    const differ = await call('operator', `${method} ${path(own, `?client_id=${clients.andes}`)}`, {
      client_id: clients.boreal,
    });
    expect(shown(differ)).toEqual([
      400,
      `invalid client_id: ${clients.andes} in the query, ${clients.boreal} in the body`,
      'invalid_client_id',
    ]);
  });

  test('the client is checked before the template, the template before its channels (D5)', async () => {
    expect((await add('supervisor1001', 'x', [pair(999, 999)], `?client_id=${clients.boreal}`)).status).toBe(403);
    expect((await add('supervisor1001', 'x', [pair(999, 999)])).status).toBe(404);
    expect((await add('supervisor1001', 'x', [{}])).status).toBe(400);
  });
});
