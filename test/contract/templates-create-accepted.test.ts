import { beforeAll, describe, expect, test } from 'vitest';
import { addressOf } from '../support/addresses.ts';
import { call } from '../support/api.ts';
import { uploadedHandle } from '../support/simulator-uploads.ts';
import {
  create,
  expectRefused,
  lastSent,
  listedTemplate,
  plainBody,
  sharedWaba,
  templateProbes,
} from '../support/template-probes.ts';

const probes = templateProbes();
let handle: string;

beforeAll(async () => {
  const url = addressOf('platformUrl');
  const post = (path: string, body: unknown) =>
    call(url, `POST /v25.0/${path}`, { body, token: 'demo-platform-token' });
  handle = await uploadedHandle({ url, post }, 'image/png');
});

const answer = (status: string, category: string) => ({ id: expect.stringMatching(/^\d+$/), status, category });
const otp = (button: object) => ({ type: 'BUTTONS', buttons: [{ type: 'OTP', ...button }] });
const apps = [{ package_name: 'com.example.app', signature_hash: 'K8a/AINcGX7' }];
const offer = { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Ends tonight' } };
const card = (url: string) => ({
  components: [
    { type: 'HEADER', format: 'IMAGE', header_handle: handle },
    { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'See', url }] },
  ],
});

describe('what reaches the platform, and what is answered: id, status and category only', () => {
  const cases: Record<string, () => { asked: Readonly<Record<string, unknown>>; sent: object }> = {
    'enums in any letter case, components in any order, examples as one list': () => ({
      asked: {
        category: 'utility',
        parameter_format: 'positional',
        components: [
          { type: 'footer', text: 'Andes Retail' },
          { type: 'body', text: 'Hi {{1}}, order {{2}} is ready.', example: { body_text: ['Ana', 'A-1'] } },
        ],
      },
      sent: {
        category: 'UTILITY',
        parameter_format: 'POSITIONAL',
        components: [
          { type: 'BODY', text: 'Hi {{1}}, order {{2}} is ready.', example: { body_text: [['Ana', 'A-1']] } },
          { type: 'FOOTER', text: 'Andes Retail' },
        ],
      },
    }),
    'text header and buttons; the fields that are passed on': () => {
      const components = [
        { type: 'HEADER', format: 'TEXT', text: 'News for {{1}}!', example: { header_text: ['Ana'] } },
        plainBody,
        {
          type: 'BUTTONS',
          buttons: [
            { type: 'QUICK_REPLY', text: 'Stop' },
            { type: 'URL', text: 'Track', url: 'https://example.com/{{1}}', example: ['A-1'] },
            { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+5491100000001' },
          ],
        },
      ];
      const spec = {
        bid_amount: 120,
        bid_strategy: 'LOWEST_COST_WITH_BID_CAP',
        bid_country_multiplier_overrides: [{ country: 'AR', multiplier: 0.5 }, { anything: [null] }],
      };
      const passedOn = {
        optimization_spec: spec,
        message_send_ttl_seconds: 43_200,
        allow_category_change: true,
        category: 'MARKETING',
      };
      return { asked: { ...passedOn, components }, sent: { ...passedOn, components } };
    },
    'COPY_CODE: ten minutes unless told': () => ({
      asked: { category: 'AUTHENTICATION', components: [{ type: 'BODY' }, otp({ otp_type: 'copy_code' })] },
      sent: {
        components: [{ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 10 }, otp({ otp_type: 'COPY_CODE' })],
      },
    }),
    'ONE_TAP: advice and 30 seconds beside the components, a whole minute for the platform': () => ({
      asked: {
        category: 'AUTHENTICATION',
        add_security_recommendation: true,
        code_expiration_minutes: 0.5,
        message_send_ttl_seconds: -1,
        components: [
          { type: 'BODY' },
          otp({ otp_type: 'ONE_TAP', text: 'Copy', autofill_text: 'Fill', supported_apps: apps }),
        ],
      },
      sent: {
        message_send_ttl_seconds: -1,
        components: [
          { type: 'BODY', add_security_recommendation: true },
          { type: 'FOOTER', code_expiration_minutes: 1 },
          otp({ otp_type: 'ONE_TAP', text: 'Copy', autofill_text: 'Fill', supported_apps: apps }),
        ],
      },
    }),
    'ZERO_TAP: minutes in the FOOTER': () => {
      const button = otp({ otp_type: 'ZERO_TAP', zero_tap_terms_accepted: true, supported_apps: apps });
      const body = { type: 'BODY', add_security_recommendation: false };
      return {
        asked: {
          category: 'AUTHENTICATION',
          components: [body, { type: 'FOOTER', code_expiration_minutes: 14.2 }, button],
        },
        sent: { components: [body, { type: 'FOOTER', code_expiration_minutes: 15 }, button] },
      };
    },
    'header_handle goes where the platform wants it': () => ({
      asked: { components: [{ type: 'HEADER', format: 'image', header_handle: handle }, plainBody] },
      sent: { components: [{ type: 'HEADER', format: 'IMAGE', example: { header_handle: [handle] } }, plainBody] },
    }),
    'example.header_handle is taken as the platform writes it': () => {
      const components = [{ type: 'HEADER', format: 'IMAGE', example: { header_handle: [handle] } }, plainBody];
      return { asked: { components }, sent: { components } };
    },
    'a carousel with a handle in every card': () => {
      const sentCard = (url: string) => ({
        components: [
          { type: 'HEADER', format: 'IMAGE', example: { header_handle: [handle] } },
          { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'See', url }] },
        ],
      });
      const [one, two] = ['https://example.com/1', 'https://example.com/2'] as const;
      return {
        asked: { category: 'MARKETING', components: [{ type: 'CAROUSEL', cards: [card(one), card(two)] }, plainBody] },
        sent: { components: [plainBody, { type: 'CAROUSEL', cards: [sentCard(one), sentCard(two)] }] },
      };
    },
    'a limited-time offer': () => {
      const button = { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'See', url: 'https://example.com/' }] };
      const components = [offer, plainBody, button];
      return { asked: { category: 'MARKETING', components }, sent: { components } };
    },
  };

  test.each(Object.entries(cases))('%s', async (_, make) => {
    const { asked, sent } = make();
    const draft = probes.draft(asked);
    const reply = await create(draft);
    const category = draft.category.toUpperCase();
    expect([reply.status, reply.body]).toEqual([200, answer('PENDING', category)]);
    expect(Object.keys(reply.body)).toEqual(['id', 'status', 'category']);

    const { name, language } = draft;
    expect(await lastSent()).toEqual({ name, language, parameter_format: 'POSITIONAL', category, ...sent });
    const { id, active, waba_id, platform_template: stored, channel_campaigns } = await listedTemplate(1001, name);
    expect({ id, active, waba_id, channel_campaigns }).toEqual({
      id: expect.any(String),
      active: true,
      waba_id: sharedWaba,
      channel_campaigns: [],
    });
    expect(stored).toMatchObject({ id: reply.body.id, name, language, status: 'PENDING', category });
  });
});

/* What is outside of these ranges is refused: test/lib/templates/create/create-request.test.ts. */
describe('the ends of what message_send_ttl_seconds may say; the platform takes them too', () => {
  const code = [{ type: 'BODY' }, otp({ otp_type: 'COPY_CODE' })];
  test.each([
    ['AUTHENTICATION', code, [30, 900, -1]],
    ['UTILITY', [plainBody], [30, 43_200, -1]],
    ['MARKETING', [plainBody], [43_200, 2_592_000]],
  ])('%s', async (category, components, ends) => {
    for (const message_send_ttl_seconds of ends) {
      const reply = await create(probes.draft({ category, components, message_send_ttl_seconds }));
      expect(reply).toMatchObject({ status: 200, body: { category } });
      expect(await lastSent()).toMatchObject({ message_send_ttl_seconds });
    }
  });
});

describe('the answer is the platform’s', () => {
  test.each([
    ['REVIEW_NOW', 'APPROVED', 'UTILITY'],
    ['REVIEW_NOW REJECT_SCAM', 'REJECTED', 'UTILITY'],
    ['AS_MARKETING', 'PENDING', 'MARKETING'],
  ])('%s: %s, %s, in the answer and in the listing', async (words, status, category) => {
    const draft = probes.draft({ components: [{ type: 'BODY', text: `${words} for your order.` }] });
    expect(await create(draft)).toMatchObject({ status: 200, body: answer(status, category) });
    expect(await listedTemplate(1001, draft.name)).toMatchObject({ platform_template: { status, category } });
  });
});

describe('assignment while creating (D13)', () => {
  const pair = { channel_id: 501, campaign_id: 10 };
  const channel = { channel_id: 501, did: '5491100000001', type: 'MESSAGING' };
  test.each([
    ['an object', pair, [10]],
    ['a list', [{ channel_id: 501, campaign_id: 11 }, pair, pair], [10, 11]],
    ['an empty list', [], []],
  ])('%s: the creator has the pairs, the other client of the WABA the placeholder', async (_, pairs, campaigns) => {
    const draft = probes.draft({ channel_campaigns: pairs });
    expect((await create(draft)).status).toBe(200);
    const groups = campaigns.map((campaign_id) => ({ campaign_id, channels: [channel] }));
    expect(await listedTemplate(1001, draft.name)).toMatchObject({ client_id: 1001, channel_campaigns: groups });
    expect((await listedTemplate(1001, draft.name)).channel_campaigns).toHaveLength(campaigns.length);
    const unassigned = await listedTemplate(1002, draft.name, '&campaign_name=Unassigned');
    expect(unassigned).toMatchObject({ client_id: 1002, channel_campaigns: [] });
    expect(await lastSent()).not.toHaveProperty('channel_campaigns');
  });
});

test('a channel of another WABA than the DID’s cannot be assigned while creating (D14)', async () => {
  const channel_campaigns = [
    { channel_id: 502, campaign_id: 20 },
    { channel_id: 503, campaign_id: 20 },
  ];
  await expectRefused(() => create(probes.draft({ channel_campaigns }), { user: 'supervisor1002' }), {
    message: 'channel 503 is on WABA 200000000000002, the template on WABA 200000000000001',
    at: ['channel_campaigns[1].channel_id'],
  });
});

describe('for whom', () => {
  const pairs = { channel_campaigns: { channel_id: 501, campaign_id: 10 } };
  test.each([
    ['the own client by its id', 'supervisor1001', '', { client_id: 1001 }],
    ['another client in the body, with BSP_CN', 'operator', '', { client_id: 1001 }],
    ['another client in the query, with BSP_CN', 'operator', '?client_id=1001', {}],
  ] as const)('%s', async (_, user, query, body) => {
    const draft = probes.draft({ ...body, ...pairs });
    expect((await create(draft, { user, query })).status).toBe(200);
    expect(await listedTemplate(1001, draft.name)).toMatchObject({ channel_campaigns: [{ campaign_id: 10 }] });
    expect(await lastSent()).not.toHaveProperty('client_id');
  });

  test('on the DID of another client of the same WABA (D5); other languages of a name are free', async () => {
    const draft = probes.draft();
    expect((await create(draft, { did: '5491100000002' })).status).toBe(200);
    expect((await create(probes.draft({ ...draft, language: 'es' }), { user: 'supervisor1002' })).status).toBe(200);
    expect(await listedTemplate(1001, draft.name, '&lang=es')).toMatchObject({ waba_id: sharedWaba });
  });
});
