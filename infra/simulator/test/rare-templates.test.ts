import { beforeAll, describe, expect, test } from 'vitest';
import { demoSeed } from '../src/seed.ts';
import {
  body,
  button,
  firstNumber,
  firstWaba,
  header,
  simulatorAtRest,
  simulatorOfFile,
  templateMessage,
  text,
} from './support/simulator.ts';

const productCard = {
  components: [
    { type: 'HEADER', format: 'PRODUCT' },
    { type: 'BUTTONS', buttons: [{ type: 'SPM', text: 'View' }] },
  ],
};
const templates = [
  {
    name: 'flash_offer',
    language: 'en_US',
    category: 'MARKETING',
    components: [
      { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Ends soon', has_expiration: true } },
      { type: 'BODY', text: 'Hello {{1}}, only today.' },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'COPY_CODE', example: ['SAVE'] },
          { type: 'URL', text: 'Shop', url: 'https://andes.example.com' },
        ],
      },
    ],
  },
  {
    name: 'product_row',
    language: 'en_US',
    category: 'MARKETING',
    components: [
      { type: 'BODY', text: 'Hello {{1}}, new this week.' },
      { type: 'CAROUSEL', cards: [productCard, productCard] },
    ],
  },
  {
    name: 'may_we_call',
    language: 'en_US',
    category: 'UTILITY',
    components: [
      { type: 'BODY', text: 'Hello {{1}}, may we call you?' },
      { type: 'CALL_PERMISSION_REQUEST' },
      { type: 'BUTTONS', buttons: [{ type: 'REQUEST_CONTACT_INFO' }] },
    ],
  },
  {
    name: 'survey',
    language: 'en_US',
    category: 'UTILITY',
    components: [
      { type: 'HEADER', format: 'DOCUMENT', example: { header_handle: ['4::cGRm:AR'] } },
      { type: 'BODY', text: 'Please answer three questions.' },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'FLOW', text: 'Start', flow_id: '1' },
          { type: 'CATALOG', text: 'View catalog' },
        ],
      },
    ],
  },
];

const simulator = simulatorOfFile();
beforeAll(async () => {
  expect((await simulator.control('POST', 'templates', { waba_id: firstWaba, templates })).status).toBe(200);
});

const codeOf = async (name: string, components: unknown[]) => {
  const answer = await simulator.post(`${firstNumber}/messages`, templateMessage(name, components));
  return answer.status === 200 ? 'accepted' : answer.body.error.code;
};

describe('limited-time offer', () => {
  const code = button('copy_code', 0, { type: 'coupon_code', coupon_code: 'SAVE' });
  const offer = (expiration_time_ms: number) => ({
    type: 'limited_time_offer',
    parameters: [{ type: 'limited_time_offer', limited_time_offer: { expiration_time_ms } }],
  });
  const tomorrowMs = Date.parse('2026-11-21T12:00:00Z');
  test.each([
    ['tomorrow', [body('Ana'), code, offer(tomorrowMs)], 'accepted'],
    ['no end', [body('Ana'), code], 131008],
    ['seconds for milliseconds', [body('Ana'), code, offer(tomorrowMs / 1_000)], 131009],
    ['another parameter', [body('Ana'), code, { type: 'limited_time_offer', parameters: [text('x')] }], 132012],
    ['filled body beyond 600', [body('x'.repeat(600)), code, offer(tomorrowMs)], 132005],
  ])('%s: %s', async (_, components, expected) => {
    expect(await codeOf('flash_offer', components)).toBe(expected);
  });
});

describe('product carousel', () => {
  const card = (index: number, catalog = '600000000000001') => ({
    card_index: index,
    components: [header({ type: 'product', product: { product_retailer_id: `SKU-${index}`, catalog_id: catalog } })],
  });
  const cards = (count: number) => Array.from({ length: count }, (_, index) => card(index));
  test.each([
    ['2 cards', cards(2), 'accepted'],
    ['10 cards', cards(10), 'accepted'],
    ['1 card', cards(1), 132000],
    ['11 cards', cards(11), 132000],
    ['a gap in the numbering', [card(0), card(2)], 131009],
    ['a catalog of somebody else', [card(0), card(1, '1')], 131009],
  ])('%s: %s', async (_, sent, expected) => {
    expect(await codeOf('product_row', [body('Ana'), { type: 'carousel', cards: sent }])).toBe(expected);
  });
});

describe('flow, catalog, document', () => {
  const file = header({ type: 'document', document: { link: 'https://andes.example.com/a.pdf', filename: 'a.pdf' } });
  const flow = button('flow', 0, { type: 'action', action: { flow_token: 't', flow_action_data: { a: 1 } } });
  const flowOfNull = button('flow', 0, { type: 'action', action: { flow_token: 't', flow_action_data: null } });
  const flowOnly = { type: 'button', sub_type: 'flow', index: 0 };
  const catalog = button('CATALOG', 1, { type: 'action', action: { thumbnail_product_retailer_id: 'SKU-1' } });
  test.each([
    ['all parameters', [file, flow, catalog], 'accepted'],
    ['a flow that takes no parameter', [file, flowOnly], 'accepted'],
    ['a flow whose data are null (131009)', [file, flowOfNull, catalog], 131009],
    ['a flow that the message does not name (131009)', [file, catalog], 131009],
    ['text for a flow', [file, button('flow', 0, text('x'))], 132012],
    ['image for a document', [header({ type: 'image', image: { id: '1' } })], 132012],
    ['values for a body without variables', [file, flow, body('x')], 132000],
  ])('%s: %s', async (_, components, expected) => {
    expect(await codeOf('survey', components)).toBe(expected);
  });
});

test('what asks for a call, or for contact data, takes no part of a send', async () => {
  expect(await codeOf('may_we_call', [body('Ana')])).toBe('accepted');
  expect(await codeOf('may_we_call', [body('Ana'), button('quick_reply', 0)])).toBe(132012);
});

describe('what the WABA is allowed', () => {
  test.each([
    ['marketing switched off on /messages', { disable_marketing_messages_on_cloud_api: true }, 'messages', 131063],
    [
      'not onboarded for /marketing_messages',
      { marketing_messages_onboarding_status: 'ELIGIBLE' },
      'marketing_messages',
      131055,
    ],
  ])('%s', async (_, node, edge, code) => {
    const seed = demoSeed();
    const own = await simulatorAtRest({
      ...seed,
      wabas: seed.wabas.map((waba) => ({ ...waba, node: { ...waba.node, ...node } })),
    });
    const image = header({ type: 'image', image: { link: 'https://andes.example.com/a.jpg' } });
    const answer = await own.post(
      `${firstNumber}/${edge}`,
      templateMessage('welcome_offer', [image, body('Ana')], 'es'),
    );
    await own.stop();
    expect([answer.status, answer.body.error.code]).toEqual([400, code]);
  });
});
