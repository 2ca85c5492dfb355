import { afterAll, beforeAll, expect, test } from 'vitest';
import demo from '../../infra/local/demo/provisioning.json' with { type: 'json' };
import { provision } from '../../infra/operate/tables/provisioning-run.ts';
import { type ApiReply, api, tokenOf } from '../support/api.ts';
import { campaigns, channels } from '../support/demo.ts';
import { runningTarget } from '../support/running-target.ts';
import { createdTemplate, templateProbes } from '../support/template-probes.ts';

/** The demo file gets a user who sees one campaign of client 1001, while the test lasts. */
const { onboarding, collections } = campaigns;
const user = { username: 'onboarding1001', password: 'one-campaign-only' };
const withUser = {
  ...demo,
  users: [...demo.users, { ...user, client_id: 1001, permissions: [], campaign_ids: [onboarding] }],
};

const probes = templateProbes();
let token: string;
beforeAll(async () => {
  await provision(withUser, runningTarget());
  token = (await api('POST /login', { body: user })).body.access_token;
});
afterAll(async () => {
  await provision(demo, runningTarget(), { removalsAllowed: 1 });
});

const pair = (campaignId: number) => ({ channel_id: channels.andes, campaign_id: campaignId });
const [mine, theirs] = [pair(onboarding), pair(collections)];
/**
 * Creates a template with these pairs. Documents keep that order, and a listing for a user with all campaigns names the
 * first.
 */
async function templateIn(...pairs: ReturnType<typeof pair>[]): Promise<{ id: string; name: string }> {
  const { name } = await createdTemplate(
    probes.draft({ channel_campaigns: pairs, components: [{ type: 'BODY', text: 'Your order is on its way.' }] }),
  );
  const { data } = (
    await as('supervisor', `GET /v1/templates?name=${name}${pairs.length ? '' : '&campaign_name=Unassigned'}`)
  ).body;
  return { id: data[0].id, name };
}
const as = async (who: 'user' | 'supervisor', route: string, body?: unknown): Promise<ApiReply> =>
  api(route, { token: who === 'user' ? token : await tokenOf('supervisor1001'), body });
const assignments = (id: string, query = '') => `/v1/templates/${encodeURIComponent(id)}/channel-campaigns${query}`;
const shown = ({ status, body }: ApiReply) => [status, body.code ?? body];
const campaignsOf = (groups: { campaign_id: number }[]) => groups.map(({ campaign_id }) => campaign_id);

/** Returns a user's view of a template in the listing, by GET one and grouped: the campaigns, or the status. */
async function views(who: 'user' | 'supervisor', { id, name }: { id: string; name: string }) {
  const [list, one, grouped] = await Promise.all([
    as(who, `GET /v1/templates?name=${name}`),
    as(who, `GET /v1/templates/${id}`),
    as(who, `GET ${assignments(id, '-grouped')}`),
  ]);
  const listed = list.body.data.map((entry: { channel_campaigns: [] }) => campaignsOf(entry.channel_campaigns));
  return {
    listed,
    one: one.status === 200 ? campaignsOf(one.body.channel_campaigns) : one.status,
    grouped: grouped.status === 200 ? campaignsOf(grouped.body) : grouped.status,
  };
}

test('every view shows a user the own campaigns, and putting back what was shown takes nothing from others (D14, D15)', async () => {
  const template = await templateIn(theirs, mine);
  const [foreignId] = [template.id];
  expect(await views('user', template)).toEqual({ listed: [[10]], one: [10], grouped: [10] });
  expect(await views('supervisor', template)).toEqual({ listed: [[10, 11]], one: [10, 11], grouped: [10, 11] });
  expect((await as('user', 'GET /v1/me')).body.campaigns).toMatchObject([{ id: 10 }]);

  // The user may switch the listed id, but not the document of the foreign campaign (D12, D17).
  const [{ id: ownId }] = (await as('user', `GET /v1/templates?name=${template.name}`)).body.data;
  expect(ownId).not.toBe(foreignId);
  expect((await as('user', `GET /v1/templates/${foreignId}`)).body.id).toBe(ownId);
  const status = await as('user', 'PATCH /v1/templates/status', { action: 'disable', templates: [foreignId, ownId] });
  expect(status.body.results).toMatchObject([{ reason: 'forbidden' }, { success: true }]);

  expect((await as('user', `PUT ${assignments(ownId)}`, { channel_campaigns: [mine] })).status).toBe(200);
  expect((await views('supervisor', template)).grouped).toEqual([10, 11]);
  expect((await as('user', `DELETE ${assignments(ownId)}`)).status).toBe(200);
  expect(await views('supervisor', template)).toEqual({ listed: [[11]], one: [11], grouped: [11] });
  expect(await views('user', template)).toEqual({ listed: [], one: 404, grouped: 404 });

  // Every user of the client may add. A PUT leaves the pairs of other campaigns alone.
  expect((await as('user', `PUT ${assignments(foreignId)}`, { channel_campaigns: [mine] })).status).toBe(200);
  expect((await views('supervisor', template)).grouped).toEqual([10, 11]);
  expect((await as('user', `PUT ${assignments(foreignId)}`, { channel_campaigns: [] })).status).toBe(200);
  expect((await views('supervisor', template)).grouped).toEqual([11]);
});

test('an unassigned template is shown by itself, in no listing but that of Unassigned', async () => {
  const template = await templateIn();
  expect(await views('user', template)).toEqual({ listed: [], one: [], grouped: [] });
  expect((await as('user', `DELETE ${assignments(template.id)}`)).status).toBe(200);
});

test('DELETE of one pair: that alone; of a foreign campaign it is 403 (D14)', async () => {
  const template = await templateIn(mine, theirs);
  const one = (who: 'user' | 'supervisor', campaignId: number) =>
    as(who, `DELETE ${assignments(template.id, `?channel_id=${channels.andes}&campaign_id=${campaignId}`)}`);
  for (const campaignId of [collections, 999]) {
    expect(shown(await one('user', campaignId))).toEqual([403, 'campaign_forbidden']);
  }
  expect(shown(await one('supervisor', collections))).toEqual([200, { ids: null, success: true }]);
  expect((await views('supervisor', template)).one).toEqual([10]);
});

test('a DELETE that says what it does not understand removes nothing (D14)', async () => {
  const template = await templateIn(mine, theirs);
  const refused = async (query: string, body?: unknown) => {
    const { status, body: said } = await as('supervisor', `DELETE ${assignments(template.id, query)}`, body);
    return [status, said.message];
  };
  const how = 'channel_id and campaign_id together in the query name one assignment to remove, without both all go';
  expect(await refused('', { channel_campaigns: [mine] })).toEqual([
    400,
    `unrecognized field: channel_campaigns; ${how}`,
  ]);
  expect(await refused('', { note: 'x'.repeat(65_536) })).toEqual([413, expect.any(String)]);
  expect(await refused('', [mine])).toEqual([400, 'the request body must be a JSON object']);
  expect(await refused('', 'x')).toEqual([400, expect.stringContaining('the request body must be valid JSON')]);
  expect(await refused('?channel_id=501')).toEqual([400, `campaign_id is required: ${how}`]);
  expect(await refused('?campaign_id=10')).toEqual([400, `channel_id is required: ${how}`]);
  for (const query of [
    '?channel_id=501&channel_id=502&campaign_id=10',
    '?channel_id=x&campaign_id=10',
    '?channel_id=&campaign_id=10',
  ]) {
    expect((await refused(query))[0]).toBe(400);
  }
  expect((await views('supervisor', template)).one).toEqual([10, 11]);
  expect((await as('supervisor', `DELETE ${assignments(template.id)}`, {})).status).toBe(200);
  expect((await views('supervisor', template)).one).toEqual([]);
});

test('a user without campaigns sees and takes away none, be the template there or not (D15)', async () => {
  const { id } = await templateIn(mine);
  const agent = await tokenOf('agent1001');
  for (const each of [id, 'x']) {
    const routes = ['', '/channel-campaigns-grouped'].map((rest) => `GET /v1/templates/${each}${rest}`);
    for (const route of [...routes, `PUT ${assignments(each)}`, `DELETE ${assignments(each)}`]) {
      expect(shown(await api(route, { token: agent }))).toEqual([400, 'agent_without_campaigns']);
    }
  }
});
