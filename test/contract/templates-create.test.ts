import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { uploadedHandle } from '#simulator/test/simulator-uploads';
import { addressOf } from '../support/addresses.ts';
import { call, platform, synchronize } from '../support/api.ts';
import {
  type CreateOptions,
  create,
  creationsAsked,
  edit,
  expectRefused,
  lastSent,
  listedTemplate,
  plainBody,
  type Refused,
  sharedWaba,
  templateProbes,
} from '../support/template-probes.ts';

/*
 * Each kind has one case, as a caller sees it. Rules are in test/lib/templates/{create,rules}/, races and failing
 * stores in create-template.adapter.test.ts.
 */

const probes = templateProbes();
beforeAll(() => synchronize('supervisor1001'));
afterEach(async () => {
  await platform('DELETE /_control/faults');
});

const answer = (status: string, category: string) => ({ id: expect.stringMatching(/^\d+$/), status, category });
const otp = (button: object) => ({ type: 'BUTTONS', buttons: [{ type: 'OTP', ...button }] });
const apps = [{ package_name: 'com.example.app', signature_hash: 'K8a/AINcGX7' }];

describe('what reaches the platform, and what is answered: id, status and category only', () => {
  let handle: string;
  beforeAll(async () => {
    const url = addressOf('platformUrl');
    const post = (path: string, body: unknown) =>
      call(url, `POST /v25.0/${path}`, { body, token: 'demo-platform-token' });
    handle = await uploadedHandle({ url, post }, 'image/png');
  });

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
    'a coupon of 20 in UTILITY, and a variable at the end of a header': () => {
      const components = [
        { type: 'HEADER', format: 'TEXT', text: 'Your order {{1}}', example: { header_text: ['A-1'] } },
        plainBody,
        { type: 'BUTTONS', buttons: [{ type: 'COPY_CODE', example: 'SAVE20SAVE20SAVE20SA' }] },
      ];
      return { asked: { components }, sent: { components } };
    },
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
    'ONE_TAP: advice and 30 seconds beside the components, a whole minute for the platform': () => ({
      asked: {
        category: 'AUTHENTICATION',
        add_security_recommendation: true,
        code_expiration_minutes: 0.5,
        message_send_ttl_seconds: -1,
        components: [
          { type: 'BODY' },
          otp({ otp_type: 'one_tap', text: 'Copy', autofill_text: 'Fill', supported_apps: apps }),
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
    'a carousel with a handle in every card goes where the platform wants it': () => {
      const card = (url: string, media: object) => ({
        components: [
          { type: 'HEADER', format: 'IMAGE', ...media },
          { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'See', url }] },
        ],
      });
      const cards = (media: object) =>
        ['https://example.com/1', 'https://example.com/2'].map((url) => card(url, media));
      const components = [{ type: 'CAROUSEL', cards: cards({ header_handle: handle }) }, plainBody];
      const sent = [plainBody, { type: 'CAROUSEL', cards: cards({ example: { header_handle: [handle] } }) }];
      return { asked: { category: 'MARKETING', components }, sent: { components: sent } };
    },
  };

  test.each(Object.entries(cases))('%s', async (_, make) => {
    const { asked, sent } = make();
    const draft = probes.draft(asked);
    const reply = await create(draft);
    const category = draft.category.toUpperCase();
    expect([reply.status, reply.body]).toEqual([200, answer('PENDING', category)]);
    expect(Object.keys(reply.body)).toEqual(['id', 'status', 'category']);
    expect(reply.headers.get('template-warning')).toBeNull();

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

  const view = { type: 'BUTTONS', buttons: [{ type: 'SPM', text: 'View' }] };
  const productCard = { components: [{ type: 'HEADER', format: 'PRODUCT' }, view] };
  const offer = { text: 'Today', has_expiration: true };
  const couponAndUrl = [
    { type: 'COPY_CODE', example: 'SAVE20' },
    { type: 'URL', text: 'Shop', url: 'https://example.com/' },
  ];
  test.each<[string, object[], string]>([
    [
      'product cards',
      [{ type: 'CAROUSEL', cards: [productCard, productCard] }],
      'templates with a button of type SPM on card 0 (buttons[0]) cannot be sent through this interface',
    ],
    [
      'an offer with an end',
      [
        { type: 'LIMITED_TIME_OFFER', limited_time_offer: offer },
        { type: 'BUTTONS', buttons: couponAndUrl },
      ],
      'limited-time offers with an expiration cannot be sent through this interface',
    ],
  ])('%s can never be sent from here: the answer says so, and an edit’s', async (_, components, warning) => {
    const draft = probes.draft({ category: 'MARKETING', components: [plainBody, ...components] });
    const reply = await create(draft);
    expect([reply.status, reply.body, reply.headers.get('template-warning')]).toEqual([
      200,
      answer('PENDING', 'MARKETING'),
      warning,
    ]);
    const { id } = await listedTemplate(1001, draft.name);
    const unchanged = await edit(id, { components: draft.components });
    expect([unchanged.status, unchanged.headers.get('template-warning')]).toEqual([200, warning]);
  });

  test.each([
    ['REVIEW_NOW REJECT_SCAM', 'REJECTED', 'UTILITY'],
    ['AS_MARKETING', 'PENDING', 'MARKETING'],
  ])('the platform’s word counts (%s): %s, %s, in the answer and in the listing', async (words, status, category) => {
    const draft = probes.draft({ components: [{ type: 'BODY', text: `${words} for your order.` }] });
    expect(await create(draft)).toMatchObject({ status: 200, body: answer(status, category) });
    expect(await listedTemplate(1001, draft.name)).toMatchObject({ platform_template: { status, category } });
  });
});

describe('the client of a creation, and its assignments (D13)', () => {
  const pair = (campaign_id: number) => ({ channel_id: 501, campaign_id });
  const channel = { channel_id: 501, did: '5491100000001', type: 'MESSAGING' };
  test.each<[string, CreateOptions, Record<string, unknown>, number[]]>([
    ['a list with a repetition', {}, { channel_campaigns: [pair(11), pair(10), pair(10)] }, [10, 11]],
    ['one, by an operator', { user: 'operator' }, { client_id: 1001, channel_campaigns: pair(10) }, [10]],
    [
      'the same, named in the query',
      { user: 'operator', query: '?client_id=1001' },
      { channel_campaigns: pair(10) },
      [10],
    ],
  ])(
    '%s: the client has the pairs, the other client of the WABA the placeholder',
    async (_, options, more, campaigns) => {
      const draft = probes.draft(more);
      expect((await create(draft, options)).status).toBe(200);
      const sent = await lastSent();
      for (const field of ['channel_campaigns', 'client_id']) expect(sent).not.toHaveProperty(field);
      const { client_id, channel_campaigns } = await listedTemplate(1001, draft.name);
      const groups = campaigns.map((campaign_id) =>
        expect.objectContaining({ campaign_id, channels: [expect.objectContaining(channel)] }),
      );
      expect({ client_id, channel_campaigns }).toEqual({ client_id: 1001, channel_campaigns: groups });
      const unassigned = await listedTemplate(1002, draft.name, '&campaign_name=Unassigned');
      expect(unassigned).toMatchObject({ client_id: 1002, channel_campaigns: [] });
    },
  );

  test('on the DID of another client of the same WABA (D5); other languages of a name are free', async () => {
    const draft = probes.draft();
    expect((await create(draft, { did: '5491100000002' })).status).toBe(200);
    expect((await create(probes.draft({ ...draft, language: 'es' }), { user: 'supervisor1002' })).status).toBe(200);
    expect(await listedTemplate(1001, draft.name, '&lang=es')).toMatchObject({ waba_id: sharedWaba });
  });
});

/* tenancy.test.ts shows for every route with a DID that the client is checked before the DID. */
describe('the order of the checks (D5): each is told though the next would refuse as well', () => {
  const good = probes.draft();
  const foreignPair = { channel_id: 502, campaign_id: 10 };

  test.each<[what: string, body: unknown, options: CreateOptions, expected: Refused]>([
    [
      'malformed before the client',
      '{',
      { query: '?client_id=1002' },
      {
        code: 'malformed_body',
        message:
          'the request body must be valid JSON: line 1, column 2: expected a name in double quotes or }, received the end',
      },
    ],
    [
      'component faults before the client',
      { ...good, components: [], client_id: 1002 },
      {},
      { message: 'components: a BODY component is required' },
    ],
    [
      'a client_id that is none before another client',
      { ...good, client_id: 1002 },
      { query: '?client_id=abc' },
      { code: 'invalid_client_id', message: 'invalid client_id: abc' },
    ],
    [
      'the DID before the pairs',
      { ...good, channel_campaigns: foreignPair },
      { did: '5499999999999' },
      { status: 403, code: 'did_forbidden', message: 'the did is outside the WABA hierarchy of the client' },
    ],
    [
      'the pairs before the platform',
      { ...good, channel_campaigns: foreignPair },
      {},
      { message: 'client 1001 has no channel 502', at: ['channel_campaigns[0].channel_id'] },
    ],
    [
      'a channel of another WABA than the DID’s (D14)',
      { ...good, channel_campaigns: [502, 503].map((channel_id) => ({ channel_id, campaign_id: 20 })) },
      { user: 'supervisor1002' },
      {
        message: 'channel 503 is on WABA 200000000000002, the template on WABA 200000000000001',
        at: ['channel_campaigns[1].channel_id'],
      },
    ],
    [
      'a taken name, whichever client created it',
      { ...good, name: 'order_update' },
      { user: 'supervisor1002', did: '5491100000002' },
      { message: 'a template of this name and language exists already', at: ['name'] },
    ],
  ])('%s', async (_, body, options, expected) => {
    // A request that reaches the platform would be answered with 502.
    await platform('POST /_control/faults', { match: { path: 'message_templates' }, action: { drop: 'before' } });
    await expectRefused(() => create(body, options), expected);
  });

  test.each<[what: string, body: unknown, message: string, at: string[]]>([
    ['nothing', {}, 'name is required', ['name', 'language', 'category', 'components']],
    [
      'a name, a language and a category that are none hide no fault of the components',
      { ...good, name: 'X', language: 'english', category: 'PROMO', components: [{ type: 'NOPE' }], client_id: 'abc' },
      'name must be 1 to 512 characters of a-z, 0-9 and _, received "X"',
      ['name', 'language', 'category', 'components[0].type', 'components', 'client_id'],
    ],
    [
      'several unknown fields, a prototype among them',
      JSON.stringify({ ...good, a: 1 }).replace('{', '{"__proto__":{},'),
      'unrecognized field: __proto__',
      ['__proto__', 'a'],
    ],
  ])('%s', async (_, body, message, at) => {
    await expectRefused(() => create(body), { message, at });
  });

  test('every fault at once, of fields and of components, each with its path', async () => {
    const cards = [{ components: [{ type: 'BODY', text: 'x' }] }];
    const body = {
      name: 'X',
      language: 'en_US',
      category: 'MARKETING',
      message_send_ttl_seconds: 30,
      code_expiration_minutes: 10,
      colour: 'red',
      components: [
        { type: 'HEADER', format: 'TEXT', text: 'Hello {{1}} *you*' },
        { type: 'BODY', text: '{{2}} comes first', example: { body_text: [['a', 'b']] }, colour: 'red' },
        { type: 'FOOTER', text: 'x'.repeat(61) },
        { type: 'FOOTER', text: 'x' },
        {
          type: 'BUTTONS',
          buttons: [
            { type: 'URL', text: 'Go 👉', url: 'ftp://example.com' },
            { type: 'NOPE' },
            { type: 'COPY_CODE', example: 'S'.repeat(21) },
          ],
        },
        { type: 'CAROUSEL', cards },
        7,
      ],
    };
    const before = await creationsAsked();
    const reply = await create(body);
    expect([reply.status, reply.body.message]).toEqual([
      400,
      'name must be 1 to 512 characters of a-z, 0-9 and _, received "X"',
    ]);
    const paths = reply.body.errors.map(({ path }: { path: string }) => path);
    const fields = ['name', 'colour', 'message_send_ttl_seconds', 'code_expiration_minutes'];
    const inComponents = ['[0].text', '[0].example.header_text', '[1].text', '[1].colour', '[1].example.body_text']
      .concat(
        '[2].text',
        '[3]',
        '[4].buttons[0].text',
        '[4].buttons[0].url',
        '[4].buttons[1].type',
        '[4].buttons[2].example',
        '[5].cards',
        '[6].type',
        '[0]',
        '[2]',
        '[4]',
      )
      .map((place) => `components${place}`);
    expect(new Set(paths)).toEqual(new Set([...fields, ...inComponents]));
    expect(await creationsAsked()).toBe(before);
  });
});
