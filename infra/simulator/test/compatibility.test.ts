import { describe, expect, test } from 'vitest';
import { creation } from './support/definitions.ts';
import {
  firstNumber,
  firstWaba,
  orderUpdate,
  recipient,
  simulatorOfFile,
  templateMessage,
} from './support/simulator.ts';
import { demoApp, sendBytes } from './support/simulator-uploads.ts';

/* Client libraries also make requests that are not plain JSON with a bearer token. */

const simulator = simulatorOfFile({ afresh: true });

const token = 'demo-platform-token';
async function plain(path: string, init: RequestInit = {}) {
  const reply = await fetch(`${simulator.url}/v25.0/${path}`, init);
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return { status: reply.status, body: (await reply.json()) as any };
}
const form = (fields: Readonly<Record<string, unknown>>) =>
  new URLSearchParams(
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    ),
  );
const multipart = (fields: Readonly<Record<string, unknown>>) => {
  const body = new FormData();
  for (const [name, value] of form(fields)) body.set(name, value);
  return body;
};

describe('the token', () => {
  test.each<[string, () => ReturnType<typeof plain>]>([
    ['in the query', () => plain(`${firstWaba}?access_token=${token}&fields=name`)],
    ['as OAuth', () => plain(`${firstWaba}?fields=name`, { headers: { authorization: `OAuth ${token}` } })],
    [
      'with a proof of the app beside it',
      () => plain(`${firstWaba}?access_token=${token}&appsecret_proof=x&fields=name`),
    ],
    [
      'in the query, before another in the header',
      () => plain(`${firstWaba}?access_token=${token}&fields=name`, { headers: { authorization: 'Bearer nobody' } }),
    ],
  ])('%s', async (_, ask) => {
    expect(await ask()).toEqual({ status: 200, body: { id: firstWaba, name: 'Andes Retail' } });
  });

  test.each<[string, string | URLSearchParams | FormData]>([
    ['a form', form({ access_token: token, ...templateMessage('order_update', orderUpdate) })],
    ['a multipart form', multipart({ access_token: token, ...templateMessage('order_update', orderUpdate) })],
    ['JSON', JSON.stringify({ access_token: token, ...templateMessage('order_update', orderUpdate) })],
  ])('in the body, %s, and it is recorded nowhere', async (_, body) => {
    const { status } = await plain(`${firstNumber}/messages`, { method: 'POST', body });
    expect(status).toBe(200);
    const message = (await simulator.control('GET', 'messages')).body.data[0];
    expect(message.request).toEqual(templateMessage('order_update', orderUpdate));
    await plain(`${firstWaba}?access_token=${token}`);
    expect(JSON.stringify((await simulator.control('GET', 'requests')).body)).not.toContain(token);
  });

  test.each([
    ['wrong in the query', '?access_token=nobody'],
    ['empty', '?access_token='],
  ])('%s: 190', async (_, query) => {
    const { status, body } = await plain(`${firstWaba}${query}`);
    expect([status, body.error.code]).toEqual([401, 190]);
  });
});

describe('the token of an app', () => {
  const asked = (changes: Readonly<Record<string, string>> = {}) => {
    const known = { client_id: demoApp, client_secret: 'demo-app-secret', grant_type: 'client_credentials' };
    return plain(`oauth/access_token?${new URLSearchParams({ ...known, ...changes })}`);
  };

  test('for its id and secret: it reaches the app alone, and the secret is recorded nowhere', async () => {
    const { status, body } = await asked();
    expect([status, body]).toEqual([
      200,
      { access_token: expect.stringMatching(/^500000000000001\|[\w-]{27}$/), token_type: 'bearer' },
    ]);
    const withIt = `access_token=${encodeURIComponent(body.access_token)}`;
    expect((await plain(`${demoApp}/subscriptions?${withIt}`)).status).toBe(200);
    expect((await plain(`${firstWaba}?${withIt}`)).status).toBe(403);
    expect(JSON.stringify((await simulator.control('GET', 'requests')).body)).not.toContain('demo-app-secret');
  });

  test.each<[Readonly<Record<string, string>>, number, RegExp]>([
    [{ client_id: '' }, 101, /^Missing client_id/],
    [{ client_id: '1' }, 101, /^Error validating application/],
    [{ client_secret: '' }, 1, /^Missing client_secret/],
    [{ client_secret: 'wrong' }, 1, /^Error validating client secret/],
    [{ grant_type: 'fb_exchange_token' }, 100, /The simulator gives the tokens of apps/],
  ])('%j: refused', async (changes, code, message) => {
    const { status, body } = await asked(changes);
    expect([status, body.error.code, body.error.message]).toEqual([400, code, expect.stringMatching(message)]);
  });
});

describe('forms', () => {
  const headers = { authorization: `Bearer ${token}` };

  test('a template is created by a form as by JSON: lists, numbers and truths are what they look like', async () => {
    const fields = { ...creation({ category: 'UTILITY' }), message_send_ttl_seconds: 600, allow_category_change: true };
    for (const [name, body] of [
      ['by_form', form({ ...fields, name: 'by_form' })],
      ['by_multipart', multipart({ ...fields, name: 'by_multipart' })],
    ] as const) {
      const made = await plain(`${firstWaba}/message_templates`, { method: 'POST', headers, body });
      expect(made).toMatchObject({ status: 200, body: { status: 'PENDING' } });
      const { body: read } = await simulator.get(made.body.id, { fields: 'name,message_send_ttl_seconds,components' });
      expect(read).toMatchObject({ name, message_send_ttl_seconds: 600, components: fields.components });
    }
  });

  test('digits stay text where text is meant', async () => {
    const body = form(templateMessage('order_update', orderUpdate));
    await plain(`${firstNumber}/messages`, { method: 'POST', headers, body });
    expect((await simulator.control('GET', 'messages')).body.data[0].request.to).toBe(recipient);
  });
});

test('uploads take a bearer token too, or one in the query', async () => {
  const { body: opened } = await plain(`${demoApp}/uploads?file_length=5&file_type=image%2Fpng&access_token=${token}`, {
    method: 'POST',
  });
  const bytes = Buffer.from('12345');
  const sent = await sendBytes(simulator, { id: opened.id, offset: 0, bytes, authorization: `Bearer ${token}` });
  expect(sent.body.h).toMatch(/^4::/);
  const escaped = opened.id.replace(':', '%3A');
  expect((await plain(`${escaped}?access_token=${token}`)).body).toEqual({ id: opened.id, file_offset: 5 });
});

describe('fields', () => {
  test('lists of a WABA among its fields, with fields and limits of their own', async () => {
    const fields =
      'name,is_enabled_for_insights,phone_numbers.limit(1){id,unified_cert_status,host_platform},message_templates.limit(2){name,quality_score{score,date}},subscribed_apps,product_catalogs{name}';
    const { body } = await simulator.get(firstWaba, { fields });
    expect(body).toMatchObject({ name: 'Andes Retail', is_enabled_for_insights: true });
    expect(body.phone_numbers).toEqual({
      data: [{ id: firstNumber, unified_cert_status: 'APPROVED', host_platform: 'CLOUD_API' }],
      paging: { cursors: expect.anything(), next: expect.stringContaining(`/v25.0/${firstWaba}/phone_numbers?`) },
    });
    expect(body.message_templates.data).toEqual([
      { id: expect.any(String), name: 'order_update', quality_score: { score: 'GREEN', date: 1_792_540_800 } },
      { id: expect.any(String), name: 'welcome_offer', quality_score: { score: 'GREEN', date: 1_792_540_800 } },
    ]);
    expect(body.subscribed_apps.data[0].whatsapp_business_api_data.id).toBe('500000000000001');
    expect(body.product_catalogs.data[0].name).toBe('Andes spring catalog');
    const next = await simulator.call('GET', body.phone_numbers.paging.next.slice(simulator.url.length));
    expect(next.body.data[0].id).toBe('300000000000002');
  });

  test('a field of a list that its nodes do not have is refused', async () => {
    const { body } = await simulator.get(firstWaba, { fields: 'phone_numbers{nothing}' });
    expect(body.error).toMatchObject({ code: 100, message: expect.stringContaining('(nothing)') });
  });

  test('a quality always has a date, also without one in the request', async () => {
    const { body: made } = await simulator.post(`${firstWaba}/message_templates`, creation());
    const quality = async () => (await simulator.get(made.id, { fields: 'quality_score' })).body.quality_score;
    expect(await quality()).toEqual({ score: 'UNKNOWN', date: 1_795_176_000 });
    await simulator.control('POST', 'clock', { advance_seconds: 100 });
    await simulator.control('POST', `templates/${made.id}`, { quality_score: { score: 'RED' } });
    expect(await quality()).toEqual({ score: 'RED', date: 1_795_176_100 });
  });
});

test.each(['order_details', 'booking_confirmation', 'reminder', 'voice_call'])(
  'the sub type %s is known: the template has no such button',
  async (subType) => {
    const part = { type: 'button', sub_type: subType, index: 0, parameters: [] };
    const { body } = await simulator.send(recipient, templateMessage('order_update', [orderUpdate[0], part]));
    expect(body.error.code).toBe(132012);
  },
);
