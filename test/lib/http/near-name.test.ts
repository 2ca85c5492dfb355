import { expect, test } from 'vitest';
import { nearHint, nearName, nearNames } from '../../../lib/http/near-name.ts';

const known = ['client_id', 'channel_campaigns', 'campaignId', 'recipients', 'to', 'did', 'component', 'components'];

test.each([
  ['channelCampaigns', 'channel_campaigns'],
  ['channel-campaigns', 'channel_campaigns'],
  ['CHANNEL_CAMPAIGNS', 'channel_campaigns'],
  ['chanel_campaign', 'channel_campaigns'],
  ['campaign_id', 'campaignId'],
  ['clientId', 'client_id'],
  ['recipient', 'recipients'],
  ['tempalte', undefined],
  ['t', 'to'],
  ['dod', 'did'],
  ['idd', 'did'],
  ['recipeints', 'recipients'],
  // Nearer than the other, which is near as well.
  ['Component', 'component'],
  ['componentss', 'components'],
  ['namespace', undefined],
  ['x', undefined],
  ['', undefined],
  ['__proto__', undefined],
  ['客户', undefined],
  ['x'.repeat(1_000_000), undefined],
])('%.30s means %s', (given, meant) => {
  expect(nearName(given, known)).toBe(meant);
});

test('the nearest come first, and no more than are asked for', () => {
  expect(nearNames('component', known, 3)).toEqual(['component', 'components']);
  expect(nearNames('component', known, 1)).toEqual(['component']);
  expect(nearNames('componentss', ['component', 'components'], 2)).toEqual(['components', 'component']);
});

test('the hint ends a sentence, or is nothing', () => {
  expect([nearHint('recipient', known), nearHint('namespace', known)]).toEqual(['; did you mean recipients?', '']);
});
