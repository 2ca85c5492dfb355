import { expect, test } from 'vitest';
import { parse } from '../../../../lib/http/parse.ts';
import {
  ChannelCampaignsBody,
  maxPairs,
  pairFaults,
  withinLimit,
} from '../../../../lib/templates/assignments/assignment-request.ts';
import { addPairs } from '../../../../lib/templates/assignments/pairs.ts';
import { makeChannel, memoryDirectory } from '../../../support/directory.ts';
import { refused } from '../../../support/refused.ts';
import { makeRow } from '../../../support/templates.ts';

const directory = memoryDirectory({
  channels: [
    makeChannel(),
    makeChannel({ channelId: 502, clientId: 1002, did: '5491100000002' }),
    makeChannel({ channelId: 506, wabaId: '200000000000002', did: '5491100000006' }),
  ],
  campaigns: [
    { campaignId: 10, clientId: 1001, name: 'Onboarding' },
    { campaignId: 20, clientId: 1002, name: 'Reminders' },
  ],
});

const template = { clientId: 1001, wabaId: '200000000000001' };

test('what a client does not have is named with its path; another client’s is refused like an unknown one', async () => {
  const pairs = [
    { channelId: 501, campaignId: 10 },
    { channelId: 502, campaignId: 10 },
    { channelId: 999, campaignId: 20 },
  ];
  expect(await pairFaults(directory, template, pairs)).toEqual([
    { path: 'channel_campaigns[1].channel_id', message: 'client 1001 has no channel 502' },
    { path: 'channel_campaigns[2].channel_id', message: 'client 1001 has no channel 999' },
    { path: 'channel_campaigns[2].campaign_id', message: 'client 1001 has no campaign 20' },
  ]);
  expect(await pairFaults(directory, template, [])).toEqual([]);
});

test('a channel of another WABA than the template’s is named (D14)', async () => {
  const pairs = [
    { channelId: 501, campaignId: 10 },
    { channelId: 506, campaignId: 10 },
  ];
  expect(await pairFaults(directory, template, pairs)).toEqual([
    {
      path: 'channel_campaigns[1].channel_id',
      message: 'channel 506 is on WABA 200000000000002, the template on WABA 200000000000001',
    },
  ]);
});

test('an absent list is not an empty one, for a PUT to tell them apart (D14)', () => {
  expect(parse(ChannelCampaignsBody, { client_id: 1001 })).toEqual({ client_id: 1001 });
  expect(parse(ChannelCampaignsBody, { channel_campaigns: [] })).toEqual({ channel_campaigns: [] });
});

test.each([
  [{ channelCampaigns: [] }, 'unrecognized field: channelCampaigns; did you mean channel_campaigns?'],
  [{ note: 1 }, 'unrecognized field: note'],
  [
    { channel_campaigns: [{ channel_id: 1, campaignId: 2 }] },
    'unrecognized field: channel_campaigns[0].campaignId; did you mean campaign_id?',
  ],
])('unknown fields are named with what they probably mean (D6): %j', (body, message) => {
  const { details } = refused(() => parse(ChannelCampaignsBody, body));
  expect(details.errors?.map((fault) => fault.message)).toContain(message);
});

const manyPairs = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ channel_id: 1, campaign_id: index + 1 }));

test.each([
  ['null', null, 'channel_campaigns'],
  ['an object', { channel_id: 1, campaign_id: 2 }, 'channel_campaigns'],
  ['a list of numbers', [1], 'channel_campaigns[0]'],
  ['no campaign', [{ channel_id: 1 }], 'channel_campaigns[0].campaign_id'],
  ['a text', [{ channel_id: '1', campaign_id: 2 }], 'channel_campaigns[0].channel_id'],
  ['a fraction', [{ channel_id: 1.5, campaign_id: 2 }], 'channel_campaigns[0].channel_id'],
  ['zero', [{ channel_id: 1, campaign_id: 0 }], 'channel_campaigns[0].campaign_id'],
  ['2^53', [{ channel_id: 1, campaign_id: 2 ** 53 }], 'channel_campaigns[0].campaign_id'],
  ['more than the limit', manyPairs(maxPairs + 1), 'channel_campaigns'],
])('channel_campaigns that is %s is refused with its path', (_, value, path) => {
  const refusal = refused(() => parse(ChannelCampaignsBody, { channel_campaigns: value }));
  expect(refusal.status).toBe(400);
  expect(refusal.details.errors?.map((fault) => fault.path)).toContain(path);
});

test('a list at the limit passes; a row over it is refused', () => {
  const { channel_campaigns: pairs = [] } = parse(ChannelCampaignsBody, { channel_campaigns: manyPairs(maxPairs) });
  const full = addPairs(makeRow(), pairs);
  expect(withinLimit(full)).toBe(full);
  const over = addPairs(full, [{ channelId: 2, campaignId: 1 }]);
  expect(refused(() => withinLimit(over)).message).toBe('a template takes at most 500 channel-campaign pairs');
});
