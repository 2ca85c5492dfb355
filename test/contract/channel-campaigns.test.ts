import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ApiReply, as, type DemoUser, synchronize } from '../support/api.ts';
import { campaigns, channels, clients, dids, wabas } from '../support/demo.ts';

/*
 * What becomes of documents is in test/lib/templates/assignments/pairs.test.ts, races in assignment-store.adapter.test.ts
 * beside it, bodies in assignment-request.test.ts, whose templates they are in contract/tenancy/.
 */

/** `own` and `theirs` are the ids of 1001 and 1002 for one template of their shared WABA. */
let own: string;
let theirs: string;
const name = 'order_update';

const path = (id: string, query = '') => `/v1/templates/${encodeURIComponent(id)}/channel-campaigns${query}`;
const grouped = (user: DemoUser, id: string) => as(user, `GET ${path(id, '-grouped')}`);
const listed = async (user: DemoUser, query: string) => (await as(user, `GET /v1/templates?${query}`)).body;
const idOf = async (clientId: number): Promise<string> =>
  (await listed('operator', `client_id=${clientId}&fields=id&size=1&name=${name}`)).data[0].id;

type Pair = readonly [channelId: number, campaignId: number];
const written = (pairs: readonly Pair[]) => ({
  channel_campaigns: pairs.map(([channel_id, campaign_id]) => ({ channel_id, campaign_id })),
});
const add = (user: DemoUser, id: string, ...pairs: readonly Pair[]) => as(user, `POST ${path(id)}`, written(pairs));
const replace = (user: DemoUser, id: string, ...pairs: readonly Pair[]) => as(user, `PUT ${path(id)}`, written(pairs));
const remove = (user: DemoUser, id: string, query = '') => as(user, `DELETE ${path(id, query)}`);

const onboarding: Pair = [channels.andes, campaigns.onboarding];
const collections: Pair = [channels.andes, campaigns.collections];
const reminders: Pair = [channels.boreal, campaigns.reminders];
const group = (id: number, campaign: string) => ({
  campaign_id: id,
  campaign_name: campaign,
  channels: [
    { channel_id: channels.andes, name: 'Andes sales', did: dids.andes, type: 'MESSAGING', waba_id: wabas.shared },
  ],
});
const [ofOnboarding, ofCollections] = [
  group(campaigns.onboarding, 'Onboarding'),
  group(campaigns.collections, 'Collections'),
];

beforeAll(async () => {
  await synchronize('supervisor1001');
  await synchronize('supervisor1002');
  [own, theirs] = [await idOf(clients.andes), await idOf(clients.boreal)];
});

/** Other tests expect the demo templates unassigned, as they are seeded. */
afterEach(async () => {
  for (const clientId of [clients.andes, clients.boreal]) {
    await remove('operator', await idOf(clientId), `?client_id=${clientId}`);
  }
});
afterAll(async () => {
  const { total } = await listed('operator', `client_id=${clients.andes}&campaign_name=Unassigned`);
  expect(total).toBe(21);
});

describe('assigning', () => {
  test('POST: 201, the placeholder keeps its _id, groups show everything, the list filters by it', async () => {
    const first = await add('supervisor1001', own, collections);
    expect(first).toMatchObject({ status: 201, text: JSON.stringify({ ids: [own], success: true }) });
    const second = await add('supervisor1001', own, onboarding, collections);
    expect(second).toMatchObject({ status: 201, body: { ids: [expect.any(String), own], success: true } });
    const [sibling] = second.body.ids;
    expect(sibling).not.toBe(own);
    for (const id of [own, sibling, theirs]) {
      const reply = await grouped('supervisor1001', id);
      expect([reply.status, reply.body]).toEqual([200, [ofOnboarding, ofCollections]]);
    }
    const inList = await listed('supervisor1001', 'campaign_name=Onboarding');
    expect(inList).toMatchObject({ total: 1, data: [{ id: own, platform_template: { name } }] });
    // The listing shows the same groups, without the channels' WABA.
    const shown = JSON.stringify([ofOnboarding, ofCollections], (key, value) =>
      key === 'waba_id' ? undefined : value,
    );
    expect(inList.data[0].channel_campaigns).toEqual(JSON.parse(shown));
    expect((await listed('supervisor1001', `did=${dids.andes}`)).total).toBe(1);
    expect((await listed('supervisor1001', 'campaign_name=Unassigned')).total).toBe(20);
  });

  test('PUT makes the pairs exactly the given ones and keeps the _id of those that stay; without a list it changes nothing (D14)', async () => {
    const [, kept] = (await add('supervisor1001', own, onboarding, collections)).body.ids;
    const success = { status: 200, text: '{"ids":null,"success":true}' };
    expect(await replace('supervisor1001', own, collections)).toMatchObject(success);
    // The document of the other pair is deleted, and its `_id` with it.
    expect(await grouped('supervisor1001', own)).toMatchObject({ status: 404 });
    own = kept;
    for (const body of [undefined, {}, { client_id: clients.andes }]) {
      expect(await as('supervisor1001', `PUT ${path(own)}`, body)).toMatchObject(success);
      expect((await grouped('supervisor1001', own)).body).toEqual([ofCollections]);
    }
    expect(await replace('supervisor1001', own)).toMatchObject(success);
    expect((await grouped('supervisor1001', own)).body).toEqual([]);
  });

  test('DELETE leaves the placeholder; the template is listed as unassigned again', async () => {
    await add('supervisor1001', own, onboarding, collections);
    for (let time = 0; time < 2; time += 1) {
      expect(await remove('supervisor1001', own)).toMatchObject({ status: 200, text: '{"ids":null,"success":true}' });
    }
    expect((await grouped('supervisor1001', own)).body).toEqual([]);
    const unassigned = await listed('supervisor1001', `campaign_name=Unassigned&name=${name}`);
    expect(unassigned.data).toMatchObject([{ id: own, channel_campaigns: [] }]);
  });

  test('two clients of one WABA do not disturb each other, whichever client’s _id is named (D12)', async () => {
    await add('supervisor1001', theirs, onboarding);
    await add('supervisor1002', own, reminders);
    expect((await grouped('supervisor1001', own)).body).toEqual([ofOnboarding]);
    const ofTheirs = (await grouped('supervisor1002', theirs)).body;
    expect(ofTheirs).toMatchObject([{ campaign_id: campaigns.reminders, channels: [{ channel_id: channels.boreal }] }]);
    await remove('supervisor1001', theirs);
    expect((await grouped('supervisor1001', own)).body).toEqual([]);
    expect((await grouped('supervisor1002', theirs)).body).toEqual(ofTheirs);
  });
});

describe.each([
  ['POST', add],
  ['PUT', replace],
] as const)('%s is refused', (_, request) => {
  const shown = ({ status, body }: ApiReply) => [status, body.code, body.message];
  const onOwn = [`client ${clients.andes} has no channel`, 'channel_campaigns[0].channel_id'] as const;

  test('with a 400 that names it: a channel or campaign that the client does not have, and one of another WABA (D14)', async () => {
    const cases = [
      ['supervisor1001', [[999, campaigns.onboarding]], `${onOwn[0]} 999`, [onOwn[1]]],
      [
        ...(['supervisor1001', [[channels.boreal, campaigns.reminders]], `${onOwn[0]} ${channels.boreal}`] as const),
        [onOwn[1], 'channel_campaigns[0].campaign_id'],
      ],
      [
        ...(['supervisor1002', [reminders, [channels.saoPaulo, campaigns.reminders]]] as const),
        `channel ${channels.saoPaulo} is on WABA ${wabas.boreal}, the template on WABA ${wabas.shared}`,
        ['channel_campaigns[1].channel_id'],
      ],
    ] as const;
    for (const [user, pairs, message, paths] of cases) {
      const reply = await request(user, own, ...(pairs as readonly Pair[]));
      expect(shown(reply)).toEqual([400, 'invalid_request', message]);
      expect(reply.body.errors.map((fault: { path: string }) => fault.path)).toEqual(paths);
    }
    expect((await grouped('supervisor1001', own)).body).toEqual([]);
  });

  test('for a template that is not there before its pairs are looked at: 404 (D5)', async () => {
    const reply = await request('supervisor1001', `${own}9`, [999, 999]);
    expect(shown(reply)).toEqual([404, 'template_not_found', 'template not found']);
  });
});
