import { afterAll, expect, test } from 'vitest';
import demo from '../../infra/local/demo/provisioning.json' with { type: 'json' };
import { provision } from '../../infra/operate/tables/provisioning-run.ts';
import { as } from '../support/api.ts';
import { runningTarget } from '../support/running-target.ts';
import { createdTemplate, templateProbes } from '../support/template-probes.ts';

/* Which documents count is told by test/lib/templates/{listing/listing,status/bulk-status}.test.ts. */

/** The demo file gets one more channel and one more campaign of client 1001, while the test lasts. */
const grown = {
  ...demo,
  channels: [
    ...demo.channels,
    {
      ...{ channel_id: 778, did: '5491100000778', name: 'Passing line', client_id: 1001 },
      ...{ waba_id: '200000000000001', phone_number_id: '300000000000778', throughput_per_second: 80 },
    },
  ],
  campaigns: [...demo.campaigns, { campaign_id: 78, client_id: 1001, name: 'Passing' }],
};

const probes = templateProbes();
afterAll(async () => {
  await provision(demo, runningTarget(), { removalsAllowed: 2 });
});

const pair = (channel_id: number, campaign_id: number) => ({ channel_id, campaign_id });
const template = (...channel_campaigns: ReturnType<typeof pair>[]) => {
  const components = [{ type: 'BODY', text: 'REVIEW_NOW for your order.' }];
  return createdTemplate(probes.draft({ channel_campaigns, components }));
};

test('a template that has lost its only channel or campaign is unassigned, in every listing and in bulk status (D15, D17)', async () => {
  await provision(grown, runningTarget());
  const [noChannel, noCampaign, halved] = [
    await template(pair(778, 10)),
    await template(pair(501, 78)),
    await template(pair(778, 10), pair(501, 11)),
  ];
  const mark = noChannel.name.slice(0, -1);
  const listed = async (query: string) => {
    const { body } = await as('supervisor1001', `GET /v1/templates?search=${mark}&${query}`);
    return body.data.map(({ id }: { id: string }) => id);
  };
  await provision(demo, runningTarget(), { removalsAllowed: 2 });

  const lost = [noChannel.id, noCampaign.id];
  expect(await listed('campaign_name=Unassigned')).toEqual(lost);
  expect(await listed('campaign_name=Onboarding')).toEqual([]);
  expect(await listed('')).toHaveLength(1);
  for (const id of lost) {
    expect((await as('supervisor1001', `GET /v1/templates/${id}/channel-campaigns-grouped`)).body).toEqual([]);
  }
  const outcomes = async (action: string) => {
    const templates = [...lost, halved.id];
    const { body } = await as('supervisor1001', 'PATCH /v1/templates/status', { action, templates });
    return body.results.map(({ success, reason }: { success: boolean; reason?: string }) => (success ? 'yes' : reason));
  };
  expect(await outcomes('disable')).toEqual(['yes', 'yes', 'yes']);
  expect(await outcomes('enable')).toEqual(['channel_unassigned', 'campaign_unassigned', 'yes']);
});
