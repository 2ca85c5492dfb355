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
 * Rules are in test/lib/templates/{create,rules}/, the other clients of the WABA, pairs, names and stores in
 * create-template.adapter.test.ts, failures of the platform in contract/platform-down.test.ts.
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
    'enums in any letter case, components in any order, and the fields that are passed on': () => {
      const text = { type: 'BODY', text: 'Hi {{1}}, your order is ready.', example: { body_text: [['Ana']] } };
      const buttons = [{ type: 'URL', text: 'Track', url: 'https://example.com/{{1}}', example: ['A-1'] }];
      const components = [text, { type: 'BUTTONS', buttons }];
      const bid = { bid_amount: 120, bid_strategy: 'LOWEST_COST_WITH_BID_CAP' };
      const optimization_spec = { ...bid, bid_country_multiplier_overrides: [{ anything: [null] }] };
      const passedOn = { optimization_spec, message_send_ttl_seconds: 43_200, allow_category_change: true };
      const given = [components[1], { ...text, type: 'body', example: { body_text: ['Ana'] } }];
      return {
        asked: { ...passedOn, category: 'marketing', parameter_format: 'positional', components: given },
        sent: { ...passedOn, components },
      };
    },
    'ONE_TAP: advice and 30 seconds beside the components, a whole minute for the platform': () => ({
      asked: {
        category: 'AUTHENTICATION',
        add_security_recommendation: true,
        code_expiration_minutes: 0.5,
        message_send_ttl_seconds: -1,
        components: [{ type: 'BODY' }, otp({ otp_type: 'one_tap', text: 'Copy', supported_apps: apps })],
      },
      sent: {
        message_send_ttl_seconds: -1,
        components: [
          { type: 'BODY', add_security_recommendation: true },
          { type: 'FOOTER', code_expiration_minutes: 1 },
          otp({ otp_type: 'ONE_TAP', text: 'Copy', supported_apps: apps }),
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
    expect(reply.headers.get('template-warning')).toBeNull();

    const { name, language } = draft;
    expect(await lastSent()).toEqual({ name, language, parameter_format: 'POSITIONAL', category, ...sent });
    const entry = await listedTemplate(1001, name);
    expect(entry).toMatchObject({ active: true, waba_id: sharedWaba, channel_campaigns: [] });
    const stored = { id: reply.body.id, name, language, status: 'PENDING', category };
    expect(entry.platform_template).toMatchObject(stored);
  });

  test('what can never be sent from here: the answer says so, and an edit’s', async () => {
    const view = { type: 'BUTTONS', buttons: [{ type: 'SPM', text: 'View' }] };
    const card = { components: [{ type: 'HEADER', format: 'PRODUCT' }, view] };
    const components = [plainBody, { type: 'CAROUSEL', cards: [card, card] }];
    const draft = probes.draft({ category: 'MARKETING', components });
    const reply = await create(draft);
    const warning = 'templates with a button of type SPM on card 0 (buttons[0]) cannot be sent through this interface';
    expect([reply.status, reply.headers.get('template-warning')]).toEqual([200, warning]);
    const { id } = await listedTemplate(1001, draft.name);
    const unchanged = await edit(id, { components });
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

  test('an answer that is lost: not asked again, then refused in the platform’s words, and a synchronization brings it', async () => {
    const draft = probes.draft();
    const before = await creationsAsked();
    const match = { path: 'message_templates' };
    await platform('POST /_control/faults', { match, action: { drop: 'after' }, times: 1 });
    const message =
      'the platform did not answer clearly and may have done what was asked; synchronize before repeating it';
    expect(await create(draft)).toMatchObject({ status: 502, body: { code: 'platform_unreachable', message } });
    expect(await creationsAsked()).toBe(before + 1);
    const again = await create(draft);
    expect([again.status, again.body]).toEqual([
      400,
      { code: 'platform_refused', message: 'There is already en_US content for this template', platform_code: 100 },
    ]);
    await synchronize('supervisor1001');
    for (const clientId of [1001, 1002]) {
      expect(await listedTemplate(clientId, draft.name)).toMatchObject({ platform_template: { status: 'PENDING' } });
    }
  });
});

test('the client of a creation has the pairs and the other client of the WABA the placeholder, on whichever client’s DID (D5, D13)', async () => {
  const draft = probes.draft({
    channel_campaigns: [11, 10, 10].map((campaign_id) => ({ channel_id: 501, campaign_id })),
  });
  const asOperator = { user: 'operator', query: '?client_id=1001', did: '5491100000002' } as const;
  expect((await create(draft, asOperator)).status).toBe(200);
  for (const field of ['channel_campaigns', 'client_id']) expect(await lastSent()).not.toHaveProperty(field);
  expect(await listedTemplate(1001, draft.name)).toMatchObject({
    client_id: 1001,
    channel_campaigns: [10, 11].map((campaign_id) => ({ campaign_id, channels: [{ channel_id: 501 }] })),
  });
  const unassigned = await listedTemplate(1002, draft.name, '&campaign_name=Unassigned');
  expect(unassigned).toMatchObject({ client_id: 1002, channel_campaigns: [] });
});

/* contract/tenancy/ shows for every route with a DID that the client is checked before the DID. */
describe('the order of the checks (D5): each is told though the next would refuse as well', () => {
  const good = probes.draft();
  const foreignPair = { channel_id: 502, campaign_id: 10 };
  const outside = 'the did is outside the WABA hierarchy of the client';
  const noBody = { message: 'components: a BODY component is required' };

  test.each<[what: string, body: unknown, options: CreateOptions, expected: Refused]>([
    ['component faults before the client', { ...good, components: [], client_id: 1002 }, {}, noBody],
    [
      'the DID before the pairs',
      { ...good, channel_campaigns: foreignPair },
      { did: '5499999999999' },
      { status: 403, code: 'did_forbidden', message: outside },
    ],
    [
      'the pairs before the platform',
      { ...good, channel_campaigns: foreignPair },
      {},
      { message: 'client 1001 has no channel 502', at: ['channel_campaigns[0].channel_id'] },
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

  test('every fault at once, of fields and of components, each with its path', async () => {
    const buttons = [{ type: 'URL', text: 'Go 👉', url: 'ftp://example.com' }, { type: 'NOPE' }];
    const body = {
      ...{ ...good, name: 'X', category: 'MARKETING', message_send_ttl_seconds: 30, colour: 'red', client_id: 'abc' },
      components: [
        { type: 'HEADER', format: 'TEXT', text: 'Hello {{1}} *you*' },
        { type: 'FOOTER', text: 'x'.repeat(61), colour: 'red' },
        { type: 'BUTTONS', buttons },
      ],
    };
    const before = await creationsAsked();
    const reply = await create(body);
    expect([reply.status, reply.body.code, reply.body.message]).toEqual([
      ...[400, 'invalid_request', 'name must be 1 to 512 characters of a-z, 0-9 and _, received "X"'],
    ]);
    const inComponents = '[0].text [0].example.header_text [1].text [1].colour [2].buttons[0].text [2].buttons[0].url'
      .split(' ')
      .concat('[2].buttons[1].type', '')
      .map((place) => `components${place}`);
    const paths = reply.body.errors.map(({ path }: { path: string }) => path);
    const fields = ['name', 'colour', 'message_send_ttl_seconds', 'client_id'];
    expect(new Set(paths)).toEqual(new Set([...fields, ...inComponents]));
    expect(await creationsAsked()).toBe(before);
  });
});
