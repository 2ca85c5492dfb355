import { expect, test } from 'vitest';
import { closestName, closestNames, didYouMean } from '../../../lib/http/closest-name.ts';

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
  // Several names are near; the nearest wins.
  ['Component', 'component'],
  ['componentss', 'components'],
  ['namespace', undefined],
  ['x', undefined],
  ['', undefined],
  ['__proto__', undefined],
  ['客户', undefined],
])('%s means %s', (given, meant) => {
  expect(closestName(given, known)).toBe(meant);
});

test('what is far too long for a name costs no time to compare', () => {
  expect(closestName('x'.repeat(1_000_000), known)).toBe(undefined);
});

test.each([
  ['a quarter of the longer word may differ', 'ampaing', 'campaign', true],
  ['signs between letters count for nothing', 'c-l-i-e-n-t--i_d', 'client_id', true],
  ['one letter may differ of the shortest', 'b', 'a', true],
  ['the first letter may be missing', 'o', 'to', true],
  ['two letters are two', 'dxy', 'did', false],
  ['a letter that goes back and one that is replaced are two', 'dxi', 'did', false],
  ['a letter that comes forward and one that is replaced are two', 'ddx', 'did', false],
  ['letters swapped twice are two', 'badc', 'abcd', false],
])('%s: %s, for %s', (_, given, name, near) => {
  expect(closestName(given, [name])).toBe(near ? name : undefined);
});

test('the nearest come first, and no more than are asked for', () => {
  expect(closestNames('component', known, 3)).toEqual(['component', 'components']);
  expect(closestNames('component', known, 1)).toEqual(['component']);
  expect(closestNames('componentss', ['component', 'components'], 2)).toEqual(['components', 'component']);
});

test('the hint ends a sentence, or is nothing', () => {
  expect([didYouMean('recipient', known), didYouMean('namespace', known)]).toEqual(['; did you mean recipients?', '']);
});
