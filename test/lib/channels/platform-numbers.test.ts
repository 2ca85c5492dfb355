import { expect, test } from 'vitest';
import { platformNumbers } from '../../../lib/channels/platform-numbers.ts';
import type { PlatformCall } from '../../../lib/platform/transport.ts';

const waba = { wabaId: '200000000000001', credential: 'main' };

function setup(...replies: Record<string, unknown>[]) {
  const calls: PlatformCall[] = [];
  const numbers = platformNumbers(
    async (call) => {
      calls.push(call);
      return { body: replies[calls.length - 1] ?? {} };
    },
    async (name) => ({ accessToken: `token of ${name}`, appId: '1' }),
  );
  return { calls, numbers };
}

async function liveOf(number: Record<string, unknown>) {
  const { numbers } = await setup({ data: [{ id: '300', ...number }] }).numbers.page(waba);
  return numbers[0]?.live;
}

test('a number with everything the platform says of it', async () => {
  const number = {
    id: '300000000000001',
    display_phone_number: '+54 9 11 0000-0001',
    status: 'CONNECTED',
    quality_rating: 'GREEN',
    country_dial_code: '54',
    whatsapp_business_manager_messaging_limit: 'TIER_100K',
    is_on_biz_app: false,
    last_onboarded_time: '2026-03-02T14:00:00+0000',
    webhook_configuration: { application: 'https://app.example/in', phone_number: 'https://number.example/in' },
  };
  expect((await setup({ data: [number] }).numbers.page(waba)).numbers).toEqual([
    {
      phoneNumberId: '300000000000001',
      live: {
        status: 'ACTIVE',
        currentLimit: 'TIER_100K',
        qualityRating: 'GREEN',
        isOnBizApp: false,
        phoneCode: '54',
        phoneNumber: '91100000001',
        registeredAt: '2026-03-02T14:00:00.000Z',
        externalWebhook: 'https://number.example/in',
      },
    },
  ]);
});

test.each([
  [{ status: 'BANNED' }, { status: 'BANNED' }],
  [{ status: 'UNHEARD_OF' }, { status: 'UNHEARD_OF' }],
  [{ whatsapp_business_manager_messaging_limit: 'TIER_2K' }, { currentLimit: 'TIER_2K' }],
  // The field is deprecated: a list that names it will be refused once the platform removes it.
  [{ messaging_limit_tier: 'TIER_1K' }, {}],
  [
    { display_phone_number: '15550783881', country_dial_code: '1' },
    { phoneCode: '1', phoneNumber: '5550783881' },
  ],
  [{ display_phone_number: '+1 555 0100' }, { phoneNumber: '15550100' }],
  [
    { display_phone_number: '0800 5550', country_dial_code: '54' },
    { phoneCode: '54', phoneNumber: '08005550' },
  ],
  [{ country_dial_code: '54' }, { phoneCode: '54' }],
  [{ last_onboarded_time: '2026-03-02T14:00:00-0300' }, { registeredAt: '2026-03-02T17:00:00.000Z' }],
  [{ last_onboarded_time: 'soon' }, {}],
  [{ webhook_configuration: {} }, {}],
  [{ webhook_configuration: { application: 'https://a.example' } }, { externalWebhook: 'https://a.example' }],
  [{ is_on_biz_app: true }, { isOnBizApp: true }],
  [{}, {}],
])('%j is %j', async (number, live) => {
  expect(JSON.parse(JSON.stringify(await liveOf(number)))).toEqual(live);
});

test('pages of 100 by cursor, with the token of the WABA and every field asked for', async () => {
  const next = 'https://nowhere.example/?access_token=x&after=c1';
  const { calls, numbers } = setup({ data: [{ id: '1' }], paging: { cursors: { after: 'c1' }, next } }, { data: [] });
  expect((await numbers.page(waba)).after).toBe('c1');
  expect(await numbers.page(waba, 'c1')).toEqual({ numbers: [] });
  const fields =
    'id,display_phone_number,status,quality_rating,country_dial_code,whatsapp_business_manager_messaging_limit,' +
    'is_on_biz_app,last_onboarded_time,throughput,webhook_configuration';
  const { wabaId } = waba;
  const asked = { method: 'GET', path: `${wabaId}/phone_numbers`, accessToken: 'token of main', wabaId };
  expect(calls).toEqual([
    { ...asked, query: { fields, limit: '100' } },
    { ...asked, query: { fields, limit: '100', after: 'c1' } },
  ]);
});

test('a number that cannot be read does not stop the others; what is no list is a failure', async () => {
  const { numbers } = setup({ data: [{ id: 7 }, 'x', { id: '300', is_on_biz_app: 'no' }, { id: '301' }] }, { data: 1 });
  expect((await numbers.page(waba)).numbers.map(({ phoneNumberId }) => phoneNumberId)).toEqual(['301']);
  await expect(numbers.page(waba)).rejects.toMatchObject({ name: 'PlatformFailure', kind: 'ambiguous' });
});
