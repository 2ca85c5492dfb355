import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { parseSeed } from '../src/seed.ts';
import { ManagementUsage } from '../src/sending/limits.ts';
import {
  firstNumber,
  firstWaba,
  secondWaba,
  simulatorAtRest,
  simulatorOfFile,
  thirdNumber,
} from './support/simulator.ts';

const simulator = simulatorOfFile();

describe('tokens', () => {
  test.each([
    ['none', undefined, 190, undefined],
    ['empty', 'Bearer ', 190, undefined],
    ['another scheme', 'Basic abc', 190, undefined],
    ['unknown', 'Bearer nobody', 190, undefined],
    ['expired', 'Bearer expired-platform-token', 190, 463],
  ])('%s: 401', async (_, authorization, code, subcode) => {
    const reply = await fetch(`${simulator.url}/v25.0/${firstWaba}`, {
      headers: authorization === undefined ? {} : { authorization },
    });
    const { error } = (await reply.json()) as { error: Record<string, unknown> };
    expect([reply.status, error['code'], error['error_subcode']]).toEqual([401, code, subcode]);
    expect(error).toMatchObject({
      type: 'OAuthException',
      message: expect.any(String),
      fbtrace_id: expect.any(String),
    });
  });

  test.each([
    ['GET', firstWaba, 200],
    ['GET', `${firstWaba}/message_templates`, 200],
    ['GET', firstNumber, 200],
    ['GET', '1100000000000001', 200],
    ['POST', `${firstNumber}/messages`, 10],
  ])('without the right, %s %s: 403', async (method, path, code) => {
    const answer = await simulator.call(
      method,
      `/v25.0/${path}`,
      method === 'POST' ? {} : undefined,
      'second-waba-platform-token',
    );
    expect([answer.status, answer.body.error.code]).toEqual([403, code]);
  });

  test('none at all, for the profile of a business: 403, 200', async () => {
    const reply = await fetch(`${simulator.url}/v25.0/${firstNumber}/whatsapp_business_profile`);
    const { error } = (await reply.json()) as { error: Record<string, unknown> };
    expect([reply.status, error['code'], error['message']]).toEqual([403, 200, 'Provide valid app ID']);
  });

  test('a token that runs out while time passes', async () => {
    const own = await simulatorAtRest({
      tokens: [{ token: 'demo-platform-token', waba_ids: [], expires_at: '2026-11-20T12:01:00Z' }],
      apps: [],
      wabas: [],
    });
    expect((await own.get(firstWaba)).status).toBe(400);
    await own.control('POST', 'clock', { advance_seconds: 60 });
    expect((await own.get(firstWaba)).body.error).toMatchObject({ code: 190, error_subcode: 463 });
    await own.stop();
  });
});

describe('paths', () => {
  test.each(['/v19.0', '/v25.0', '/v99.9', ''])('any version or none: %s', async (version) => {
    const answer = await simulator.call('GET', `${version}/${firstWaba}?fields=name`);
    expect(answer.body).toEqual({ id: firstWaba, name: 'Andes Retail' });
    expect(answer.headers.get('facebook-api-version')).toBe(version === '' ? 'v26.0' : version.slice(1));
    expect(answer.headers.get('x-fb-trace-id')).toMatch(/^A[\w-]{22}$/);
  });

  test.each([
    ['GET', '/v25.0/123/messages', 100],
    ['POST', '/v25.0/123/messages', 100],
    ['GET', `/v25.0/${firstWaba}/no_such_edge`, 100],
    ['DELETE', `/v25.0/${firstNumber}`, 100],
    ['GET', '/v25/a/b/c', 2500],
  ])('%s %s: 400 with code %i', async (method, path, code) => {
    const answer = await simulator.call(method, path);
    expect([answer.status, answer.body.error.code]).toEqual([400, code]);
    if (code === 100) expect(answer.body.error).toMatchObject({ error_subcode: 33, type: 'GraphMethodException' });
  });

  test.each([
    ['GET', `${firstNumber}/settings`, "'GET settings' of 300000000000001 is not simulated."],
    ['POST', `${firstWaba}/flows`, "'POST flows' of 200000000000001 is not simulated."],
    ['DELETE', '400000000000001', "'DELETE' of 400000000000001 is not simulated."],
    ['GET', 'debug_token', "'GET' of debug_token is not simulated."],
    ['PUT', '500000000000001/subscriptions', "'PUT subscriptions' of 500000000000001 is not simulated."],
  ])('%s %s: says what the simulator takes, in the message and in the details', async (method, path, which) => {
    const token = path.startsWith('5') ? '500000000000001|demo-app-secret' : undefined;
    const { status, body } = await simulator.call(method, `/v25.0/${path}`, undefined, token);
    const details = `The simulator takes templates and text; ${which}`;
    expect([status, body]).toEqual([
      400,
      {
        error: {
          message: expect.stringMatching(/^Unsupported \w+ request\. /),
          type: 'GraphMethodException',
          code: 100,
          error_subcode: 33,
          error_data: { messaging_product: 'whatsapp', details },
          fbtrace_id: expect.any(String),
        },
      },
    ]);
    expect(body.error.message).toContain(details);
  });

  test('a path that is too long says so too', async () => {
    const { body } = await simulator.get(`${firstWaba}/message_templates/1`);
    expect(body.error.message).toContain('The simulator takes templates and text');
  });
});

test.each([
  ['/_control/messages', 'a b'],
  ['//', '127.0.0.1'],
])('what is no address is a 400: %s at host %s', async (path, host) => {
  const { port } = new URL(simulator.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.end(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
  expect(await text(socket)).toMatch(/^HTTP\/1.1 400 /);
});

describe('WABA, numbers, catalogs', () => {
  test('WABA node: default and chosen fields', async () => {
    expect(Object.keys((await simulator.get(firstWaba)).body)).toEqual([
      'id',
      'name',
      'currency',
      'timezone_id',
      'message_template_namespace',
    ]);
    const fields = 'message_template_namespace,owner_business_info,whatsapp_business_manager_messaging_limit';
    expect((await simulator.get(firstWaba, { fields })).body).toEqual({
      id: firstWaba,
      message_template_namespace: expect.any(String),
      owner_business_info: { id: '400000000000001', name: 'Andes Holding' },
      whatsapp_business_manager_messaging_limit: 'TIER_100K',
    });
  });

  test('numbers: fields and paging', async () => {
    const fields = 'display_phone_number,throughput,quality_rating,is_on_biz_app,status';
    const first = await simulator.get(`${firstWaba}/phone_numbers`, { fields, limit: '1' });
    expect(first.body.data).toEqual([
      {
        id: firstNumber,
        display_phone_number: '+54 9 11 0000-0001',
        throughput: { level: 'HIGH' },
        quality_rating: 'GREEN',
        is_on_biz_app: false,
        status: 'CONNECTED',
      },
    ]);
    const next = await simulator.call('GET', first.body.paging.next.slice(simulator.url.length));
    expect(next.body.data.map((number: { id: string }) => number.id)).toEqual(['300000000000002']);
    expect(next.body.paging.next).toBeUndefined();
    expect(next.body.paging.previous).toBeDefined();
  });

  test.each([
    ['CONNECTED', 'AVAILABLE'],
    ['RESTRICTED', 'LIMITED'],
    ['BANNED', 'BLOCKED'],
  ])('the health of a number that is %s: %s', async (status, health) => {
    await simulator.control('POST', `numbers/${thirdNumber}`, { status });
    expect((await simulator.get(thirdNumber, { fields: 'health_status' })).body).toEqual({
      id: thirdNumber,
      health_status: {
        can_send_message: health,
        entities: [
          { entity_type: 'PHONE_NUMBER', id: thirdNumber, can_send_message: health },
          { entity_type: 'WABA', id: secondWaba, can_send_message: 'AVAILABLE' },
        ],
      },
    });
    await simulator.control('POST', 'reset');
  });

  test.each([
    ['wabas', 131042, 'BLOCKED', ['AVAILABLE', 'BLOCKED'], 141006],
    ['wabas', 131031, 'BLOCKED', ['AVAILABLE', 'BLOCKED'], 131031],
    ['wabas', 368, 'BLOCKED', ['AVAILABLE', 'BLOCKED'], 368],
    ['wabas', 131064, 'LIMITED', ['AVAILABLE', 'LIMITED'], undefined],
    ['numbers', 131037, 'BLOCKED', ['BLOCKED', 'AVAILABLE'], 131037],
    ['numbers', 133010, 'BLOCKED', ['BLOCKED', 'AVAILABLE'], 141000],
    ['numbers', 131045, 'BLOCKED', ['BLOCKED', 'AVAILABLE'], 131045],
    ['numbers', 131048, 'LIMITED', ['LIMITED', 'AVAILABLE'], undefined],
    ['numbers', 'no_answer', 'AVAILABLE', ['AVAILABLE', 'AVAILABLE'], undefined],
  ])('the health under a hold of %s, %s: %s', async (nodes, code, whole, ofEntities, error) => {
    const id = nodes === 'wabas' ? firstWaba : firstNumber;
    const health = async (node: string) => (await simulator.get(node, { fields: 'health_status' })).body.health_status;
    const before = [await health(firstNumber), await health(firstWaba)];
    await simulator.control('POST', `${nodes}/${id}/holds`, { code });
    const { can_send_message, entities } = await health(firstNumber);
    expect(can_send_message).toBe(whole);
    expect(entities.map((entity: { can_send_message: string }) => entity.can_send_message)).toEqual(ofEntities);
    const held = entities.find((entity: { id: string }) => entity.id === id);
    expect([held.errors?.[0].error_code, held.additional_info?.length]).toEqual([
      error,
      whole === 'LIMITED' ? 1 : undefined,
    ]);
    const { entities: ofWaba } = await health(firstWaba);
    expect(ofWaba).toEqual([entities[1]]);
    await simulator.control('DELETE', `${nodes}/${id}/holds`);
    expect([await health(firstNumber), await health(firstWaba)]).toEqual(before);
  });

  test('a WABA has a payment method, except while it cannot pay', async () => {
    const funding = async () => (await simulator.get(firstWaba, { fields: 'primary_funding_id' })).body;
    const before = await funding();
    expect(before).toEqual({ id: firstWaba, primary_funding_id: expect.stringMatching(/^\d+$/) });
    await simulator.control('POST', `wabas/${firstWaba}/holds`, { code: 131031 });
    expect(await funding()).toEqual(before);
    await simulator.control('POST', `wabas/${firstWaba}/holds`, { code: 131042 });
    expect(await funding()).toEqual({ id: firstWaba });
    await simulator.control('DELETE', `wabas/${firstWaba}/holds`);
    expect(await funding()).toEqual(before);
    await simulator.control('POST', `wabas/${firstWaba}/holds`, { code: 131042, later: true });
    expect(await funding()).toEqual({ id: firstWaba });
    await simulator.control('DELETE', `wabas/${firstWaba}/holds`);
  });

  test('numbers: 25 a page unless told, 100 at most, every field of the reference', async () => {
    const number = (index: number) => ({
      id: String(310_000_000_000_000 + index),
      display_phone_number: `+54 11 ${index}`,
      throughput: { level: 'STANDARD' },
    });
    const numbers = Array.from({ length: 130 }, (_, index) => number(index));
    const seed = parseSeed({
      tokens: [{ token: 'demo-platform-token', waba_ids: [firstWaba] }],
      wabas: [{ node: { id: firstWaba, name: 'W' }, phone_numbers: numbers, product_catalogs: [], templates: [] }],
    });
    const crowded = await simulatorAtRest(seed);
    const count = async (query: Record<string, string>) =>
      (await crowded.get(`${firstWaba}/phone_numbers`, query)).body.data.length;
    expect([await count({}), await count({ limit: '100' }), await count({ limit: '1000' })]).toEqual([25, 100, 100]);
    await crowded.stop();
  });

  test('one number', async () => {
    const { body } = await simulator.get(thirdNumber, { fields: 'verified_name,display_phone_number' });
    expect(body).toEqual({
      id: thirdNumber,
      verified_name: 'Boreal Clinics',
      display_phone_number: '+55 11 90000-0003',
    });
  });

  test('businesses: their WABAs, and those of others that the token reaches', async () => {
    const business = '400000000000001';
    expect((await simulator.get(business)).body).toEqual({ id: business, name: 'Andes Holding' });
    const owned = await simulator.get(`${business}/owned_whatsapp_business_accounts`);
    expect(owned.body).toEqual({
      data: [{ id: firstWaba, name: 'Andes Retail', timezone_id: '1', message_template_namespace: expect.any(String) }],
      paging: { cursors: { before: expect.any(String), after: expect.any(String) } },
    });
    const shared = await simulator.get(`${business}/client_whatsapp_business_accounts`, {
      fields: 'id,phone_numbers.limit(1){id}',
    });
    expect(shared.body.data).toMatchObject([{ id: secondWaba, phone_numbers: { data: [{ id: thirdNumber }] } }]);
    const next = (await simulator.get(firstWaba, { fields: 'phone_numbers.limit(1){id}' })).body.phone_numbers.paging
      .next;
    const ofOwned = await simulator.get(`${business}/owned_whatsapp_business_accounts`, {
      fields: 'phone_numbers.limit(1){id}',
    });
    expect(ofOwned.body.data[0].phone_numbers.paging.next).toBe(next);
    const token = 'second-waba-platform-token';
    const unknown = await simulator.call('GET', `/v25.0/${business}`, undefined, token);
    expect([unknown.status, unknown.body.error.error_subcode]).toEqual([400, 33]);
  });

  test('the profile of a business, by number', async () => {
    const path = `${firstNumber}/whatsapp_business_profile`;
    const profile = async (fields?: string) => (await simulator.get(path, fields ? { fields } : {})).body;
    expect(await profile()).toEqual({ data: [{ vertical: 'UNDEFINED', messaging_product: 'whatsapp' }] });
    const given = { messaging_product: 'whatsapp', about: 'Open', websites: ['https://a.example'], vertical: 'RETAIL' };
    expect((await simulator.post(path, given)).body).toEqual({ success: true });
    expect(
      (await simulator.post(path, { messaging_product: 'whatsapp', about: '', email: 'a@a.example' })).status,
    ).toBe(200);
    expect(await profile('about,email,websites')).toEqual({
      data: [{ email: 'a@a.example', websites: ['https://a.example'] }],
    });
    expect((await simulator.get(`${thirdNumber}/whatsapp_business_profile`, { fields: 'email' })).body).toEqual({
      data: [{}],
    });
    for (const [changes, message] of [
      [{ vertical: 'PIRACY' }, /vertical/],
      [{ about: 'x'.repeat(140) }, /./],
      [{ websites: ['a', 'b', 'c'] }, /./],
      [{ profile_picture_handle: '4::none' }, /completed upload/],
      [{ messaging_product: undefined }, /messaging_product is required/],
    ] as const) {
      const { status, body } = await simulator.post(path, { ...given, ...changes });
      expect([status, body.error.message]).toEqual([400, expect.stringMatching(message)]);
    }
    await simulator.control('POST', 'reset');
    expect((await profile('email')).data).toEqual([{}]);
  });

  test('catalogs of a WABA', async () => {
    expect((await simulator.get(`${firstWaba}/product_catalogs`, { fields: 'id,name' })).body.data).toEqual([
      { id: '600000000000001', name: 'Andes spring catalog' },
    ]);
    expect((await simulator.get(`${secondWaba}/product_catalogs`)).body.data).toEqual([
      { id: '600000000000002', name: 'Boreal travel shop' },
    ]);
  });
});

test('the usage header rises with the calls of the hour and starts again with the next', async () => {
  const own = await simulatorAtRest();
  const used = async () => {
    const { headers } = await own.get(firstWaba);
    return JSON.parse(headers.get('x-business-use-case-usage') ?? '{}')[firstWaba][0].call_count;
  };
  const first = await used();
  for (let call = 0; call < 60; call += 1) await own.get(firstWaba);
  const later = await used();
  await own.control('POST', 'clock', { advance_seconds: 3_600 });
  expect([first, later, await used()]).toEqual([1, 2, 1]);
  await own.stop();
});

test('each app has an hour of its own', () => {
  const usage = new ManagementUsage();
  const [one, other] = [
    { appId: '500000000000001', wabaId: firstWaba },
    { appId: '500000000000002', wabaId: firstWaba },
  ];
  for (let calls = 0; calls < 2_500; calls += 1) usage.count(one, 0);
  usage.count(other, 0);
  expect([usage.used(one, 3_599_999), usage.used(other, 0), usage.used(one, 3_600_000)]).toEqual([0.5, 0.000_2, 0]);
});
