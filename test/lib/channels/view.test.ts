import { expect, test } from 'vitest';
import { appliedFields, channelView } from '../../../lib/channels/view.ts';
import { channelsAtScale, makeListedChannel } from '../../support/channels.ts';

const byDefault = 'wa_id,client_id,client_name,waba_id,waba_name,status,business_id,business_name';

test.each([
  [undefined, byDefault],
  [[], byDefault],
  [['nothing', 'known'], byDefault],
  [['wa_id', 'unknown', 'status'], 'wa_id,status'],
  [['status', 'wa_id', 'status'], 'status,wa_id'],
  [['WA_ID', 'toString', '__proto__'], byDefault],
])('fields %j are applied as %s', (asked, applied) => {
  expect(appliedFields(asked).join(',')).toBe(applied);
});

test('all fields with their values', () => {
  const all = {
    wa_id: '5491100000000',
    client_id: 1001,
    client_name: 'Retail house 1001',
    waba_id: '200000000000000',
    waba_name: 'WABA number 0',
    status: 'RESTRICTED',
    business_id: '400000000000000',
    business_name: 'Holding company 0',
    current_limit: 'TIER_100K',
    quality_rating: 'GREEN',
    phone_id: '300000000000000',
    phone_number_id: '300000000000000',
    is_on_biz_app: false,
    phone_code: '54',
    phone_number: '91100000000',
    create_at: '2026-11-20T12:00:00.000Z',
    create_by: 'provisioning',
    register_at: '2026-03-02T14:00:00.000Z',
    external_webhook: 'https://client-1001.example.com/inbound/messages',
    channel_id: 501,
    did: '5491100000000',
    name: 'Sales 0',
  };
  const [channel] = channelsAtScale(1, () => 1001);
  expect(channelView(channel ?? makeListedChannel(), appliedFields(Object.keys(all)))).toEqual(all);
});

test('what the platform has not said is null, and so is no name; only what was asked for is there', () => {
  expect(channelView(makeListedChannel(), ['name', 'quality_rating', 'is_on_biz_app', 'wa_id'])).toEqual({
    name: null,
    quality_rating: null,
    is_on_biz_app: null,
    wa_id: '5491100000001',
  });
});
