import { afterAll, expect, test } from 'vitest';
import demo from '../../infra/local/demo/provisioning.json' with { type: 'json' };
import { provision } from '../../infra/operate/tables/provisioning-run.ts';
import { type ApiReply, api, tokenOf } from '../support/api.ts';
import { runningTarget } from '../support/running-target.ts';
import { createdTemplate, templateProbes } from '../support/template-probes.ts';

/** The demo file gets one more channel and one more campaign of client 1001, while the test lasts. */
const grown = {
  ...demo,
  channels: [
    ...demo.channels,
    {
      channel_id: 778,
      did: '5491100000778',
      name: 'Passing line',
      client_id: 1001,
      waba_id: '200000000000001',
      phone_number_id: '300000000000778',
      throughput_per_second: 80,
    },
  ],
  campaigns: [...demo.campaigns, { campaign_id: 78, client_id: 1001, name: 'Passing' }],
};

const probes = templateProbes();
afterAll(async () => {
  await provision(demo, runningTarget(), { removalsAllowed: 2 });
});

const pair = (channel_id: number, campaign_id: number) => ({ channel_id, campaign_id });
const template = (...channel_campaigns: ReturnType<typeof pair>[]) =>
  createdTemplate(
    probes.draft({ channel_campaigns, components: [{ type: 'BODY', text: 'REVIEW_NOW for your order.' }] }),
  );
const ask = async (route: string, body?: unknown): Promise<ApiReply> =>
  api(route, { token: await tokenOf('supervisor1001'), body });
const asOperator = async (query: string): Promise<ApiReply> =>
  api(`GET /v1/templates?client_id=1001&${query}`, { token: await tokenOf('operator') });

test('a template that has lost its only channel or campaign is unassigned, in every listing and in bulk status (D15, D17)', async () => {
  await provision(grown, runningTarget());
  const [noChannel, noCampaign, halved] = [
    await template(pair(778, 10)),
    await template(pair(501, 78)),
    await template(pair(778, 10), pair(501, 11)),
  ];
  const mark = noChannel.name.slice(0, -1);
  const found = (reply: ApiReply) =>
    reply.body.data
      .map(({ platform_template }: { platform_template: { name: string } }) => platform_template.name)
      .concat(reply.body.total);
  const mine = (query: string) => ask(`GET /v1/templates?search=${mark}&${query}`).then(found);
  const all = (query: string) => asOperator(`search=${mark}&${query}`).then(found);
  await provision(demo, runningTarget(), { removalsAllowed: 2 });

  const lost = [noChannel.name, noCampaign.name];
  expect(await mine('campaign_name=Unassigned')).toEqual([...lost, 2]);
  expect(await mine('')).toEqual([halved.name, 1]);
  expect(await mine('campaign_name=Onboarding')).toEqual([0]);
  expect(await mine('campaign_name=Collections')).toEqual([halved.name, 1]);
  expect(await all('')).toEqual([...lost, halved.name, 3]);
  expect(await all('campaign_name=Unassigned')).toEqual([...lost, 2]);
  expect(await all('campaign_name=Passing')).toEqual([0]);
  expect(await all('did=5491100000778')).toEqual([0]);
  expect(await all('channel_ids=778')).toEqual([0]);
  expect(await all('channel_ids=501')).toEqual([halved.name, 1]);

  for (const { id } of [noChannel, noCampaign]) {
    expect((await ask(`GET /v1/templates/${id}/channel-campaigns-grouped`)).body).toEqual([]);
  }
  const templates = [noChannel.id, noCampaign.id, halved.id];
  const outcomes = async (action: string) =>
    (await ask('PATCH /v1/templates/status', { action, templates })).body.results.map(
      ({ success, reason }: { success: boolean; reason?: string }) => (success ? 'success' : reason),
    );
  expect(await outcomes('disable')).toEqual(['success', 'success', 'success']);
  expect(await mine('campaign_name=Unassigned&active=false')).toEqual([...lost, 2]);
  expect(await mine('campaign_name=Unassigned&active=true')).toEqual([0]);
  expect(await outcomes('enable')).toEqual(['channel_unassigned', 'campaign_unassigned', 'success']);

  expect(
    (await ask(`POST /v1/templates/${noChannel.id}/channel-campaigns`, { channel_campaigns: [pair(501, 10)] })).status,
  ).toBe(201);
  expect(await mine('')).toEqual([noChannel.name, halved.name, 2]);
  expect(await mine('campaign_name=Unassigned')).toEqual([noCampaign.name, 1]);
});
