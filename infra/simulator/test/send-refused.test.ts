import { describe, expect, test } from 'vitest';
import { demoSeed } from '../src/seed.ts';
import { expectMessagingError, refusedSends } from './support/refusals.ts';
import {
  body,
  firstNumber,
  firstWaba,
  recipient,
  simulatorAtRest,
  simulatorOfFile,
  templateMessage,
} from './support/simulator.ts';
import { validSends } from './support/valid-sends.ts';

const simulator = simulatorOfFile();
refusedSends(simulator);

test('an error body, to the letter', async () => {
  const answer = await simulator.send(recipient, { template: { name: 'order_update', language: { code: 'en_US' } } });
  expect(answer.status).toBe(400);
  expect(answer.body).toEqual({
    error: {
      message: '(#132000) Number of parameters does not match the expected number of params',
      type: 'OAuthException',
      code: 132000,
      error_data: {
        messaging_product: 'whatsapp',
        details: 'body: number of localizable_params (0) does not match the expected number of params (2)',
      },
      fbtrace_id: expect.any(String),
    },
  });
});

describe('the form of the request: code 100, naming the parameter', () => {
  const named = { name: 'order_update', language: { code: 'en_US' } };
  const template = (changes: object) => ({ template: { ...named, ...changes } });
  const parts = (...components: unknown[]) => template({ components });
  const parameter = (value: object) => parts({ type: 'body', parameters: [value] });
  const at = "template['components']";
  test.each<[Record<string, unknown>, string]>([
    [{ messaging_product: undefined }, 'The parameter messaging_product is required.'],
    [{ messaging_product: 'sms' }, 'Param messaging_product must be one of {WHATSAPP} - got "sms".'],
    [{ to: undefined }, 'The parameter to is required.'],
    [{ to: 5491150000001 }, 'Param to must be a string.'],
    [{ recipient_type: 'group' }, 'Param recipient_type must be one of {INDIVIDUAL} - got "group".'],
    [{ type: 'text' }, 'The parameter text is required.'],
    [{ type: 'text', text: { body: '' } }, "The parameter text['body'] is required."],
    [{ type: 'telegram' }, 'Param type must be one of {TEXT, TEMPLATE'],
    [{ template: undefined }, 'The parameter template is required.'],
    [template({ name: undefined }), "The parameter template['name'] is required."],
    [template({ language: undefined }), "The parameter template['language']['code'] is required."],
    [template({ language: {} }), "The parameter template['language']['code'] is required."],
    [template({ language: 'en_US' }), "Param template['language'] must be a JSON object."],
    [template({ namespace: 'x' }), 'Unexpected key "namespace" on param "template".'],
    [template({ components: {} }), `Param ${at} must be an array.`],
    [
      parts({ type: 'footer' }),
      `Param ${at}[0]['type'] must be one of {HEADER, BODY, BUTTON, CAROUSEL, LIMITED_TIME_OFFER}`,
    ],
    [parameter({ text: 'x' }), `The parameter ${at}[0]['parameters'][0]['type'] is required.`],
    [parameter({ type: 'text', text: 1 }), `Param ${at}[0]['parameters'][0]['text'] must be a string.`],
    [parts(body('Ana', 'A'), body('Ana', 'A')), `Param ${at} has two of type body.`],
    [parts(body('Ana', 'A'), { type: 'button', index: 0 }), 'The parameter sub_type of a button is required.'],
    [parts(body('Ana', 'A'), { type: 'button', sub_type: 'url' }), 'The parameter index of a button is required.'],
    [
      { messaging_account_id: '200000000000002' },
      'Param messaging_account_id must be a messaging account of the phone',
    ],
    [{ messaging_account_id: '1', paid_messaging_account_id: firstWaba }, 'Param messaging_account_id must be'],
    [{ paid_messaging_account_id: '1' }, 'Param paid_messaging_account_id must be a messaging account'],
    [{ message_send_ttl_seconds: 60 }, 'Unexpected key "message_send_ttl_seconds" on the request.'],
    [{ bid_spec: { per_message_bid_multiplier: 1 } }, 'Unexpected key "bid_spec" on the request.'],
  ])('%o', async (changes, message) => {
    const answer = await simulator.send(recipient, changes);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toEqual({
      message: expect.stringContaining(`(#100) ${message}`),
      type: 'OAuthException',
      code: 100,
      fbtrace_id: expect.any(String),
    });
  });

  test('a body that is not JSON is one without parameters', async () => {
    const reply = await fetch(`${simulator.url}/v25.0/${firstNumber}/messages`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-platform-token' },
      body: '{"messaging_product":',
    });
    const { error } = (await reply.json()) as { error: { message: string } };
    expect([reply.status, error.message]).toEqual([400, '(#100) The parameter messaging_product is required.']);
  });
});

describe('recipient, template and endpoint', () => {
  const bid = templateMessage('bid_offer', validSends.bid_offer.components);
  const orderUpdate = templateMessage('order_update', validSends.order_update.components);
  const code = templateMessage('login_code', validSends.login_code.components);
  const named = (name: string, language = 'en_US') => templateMessage(name, [body('Ana')], language);
  test.each<[string, string, unknown, number, number, (string | RegExp)?]>([
    ['letters for a number', 'messages', { ...bid, to: 'nobody' }, 400, 131009, 'to is not'],
    ['four digits', 'messages', { ...bid, to: '1234' }, 400, 131009],
    ['no scoped user id', 'messages', { ...bid, to: undefined, recipient: 'AR-1' }, 400, 131009],
    ['data for callbacks too long', 'messages', { ...bid, biz_opaque_callback_data: 'x'.repeat(513) }, 400, 131009],
    ['the sender itself', 'messages', { ...orderUpdate, to: '5491100000001' }, 400, 131021],
    [
      'another kind of message',
      'messages',
      { ...bid, type: 'image', image: {} },
      400,
      131051,
      /templates and text; .* image/,
    ],
    ['a long text', 'messages', { ...bid, type: 'text', text: { body: 'x'.repeat(4_097) } }, 400, 131009],
    ['a picture as marketing', 'marketing_messages', { ...bid, type: 'image' }, 400, 134100],
    [
      'no such template',
      'messages',
      named('no_such'),
      404,
      132001,
      /^template name \(no_such\) does not exist in en_US$/,
    ],
    ['not in that language', 'messages', named('order_update', 'es'), 404, 132001, 'does not exist in es'],
    ['language spelled otherwise', 'messages', named('order_update', 'en-US'), 404, 132001],
    ['pending', 'messages', named('summer_sale', 'es'), 404, 132001],
    ['rejected', 'messages', named('spring_rejected', 'es'), 404, 132001],
    ['paused', 'messages', named('paused_promo', 'es'), 400, 132015],
    ['disabled', 'messages', named('old_notice'), 400, 132016],
    ['of the other WABA', 'messages', named('appointment_reminder', 'pt_BR'), 404, 132001],
    ['bid template on /messages', 'messages', bid, 400, 131061],
    ['utility on /marketing_messages', 'marketing_messages', orderUpdate, 400, 134100],
    ['no template on /marketing_messages', 'marketing_messages', { ...bid, type: 'text' }, 400, 134100],
    ['bid template to a scoped user', 'marketing_messages', { ...bid, to: undefined, recipient: 'AR.1' }, 400, 131062],
    [
      'code to a scoped user',
      'messages',
      { ...code, to: undefined, recipient: 'AR.ENT.1' },
      400,
      131062,
      /BSUID. recipients are not supported/,
    ],
  ])('%s', async (_, edge, message, status, code, details) => {
    const answer = await simulator.post(`${firstNumber}/${edge}`, message);
    expectMessagingError(answer, status, code, details);
  });

  test('a bid multiplier that is not above 0', async () => {
    const { status, body: reply } = await simulator.post(`${firstNumber}/marketing_messages`, {
      ...bid,
      bid_spec: { per_message_bid_multiplier: 0 },
    });
    expect([status, reply.error.code]).toEqual([400, 100]);
    expect(reply.error.message).toContain("bid_spec['per_message_bid_multiplier']");
  });
});

test.each([
  ['switched off on /messages', { disable_marketing_messages_on_cloud_api: true }, 'messages', 131063],
  ['not onboarded', { marketing_messages_onboarding_status: 'ELIGIBLE' }, 'marketing_messages', 131055],
])('marketing that the WABA has %s', async (_, node, edge, code) => {
  const seed = demoSeed();
  const wabas = seed.wabas.map((waba) => ({ ...waba, node: { ...waba.node, ...node } }));
  const own = await simulatorAtRest({ ...seed, wabas });
  const message = templateMessage('welcome_offer', validSends.welcome_offer.components, 'es');
  const answer = await own.post(`${firstNumber}/${edge}`, message);
  await own.stop();
  expect([answer.status, answer.body.error.code]).toEqual([400, code]);
});
