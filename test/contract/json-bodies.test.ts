import { beforeAll, describe, expect, test } from 'vitest';
import { type ApiReply, type ApiRequest, api, synchronize, tokenOf } from '../support/api.ts';
import { expectRefusal } from '../support/expected-refusal.ts';
import { asSupervisor, bodyTo, orderDid as did } from '../support/sends.ts';

let recipient = 549_510_000_000;
const sendBody = () => bodyTo([String(++recipient)]);
const send = (body: unknown = sendBody(), headers?: ApiRequest['headers']) =>
  asSupervisor(`POST /v1/template/messages/${did}`, { body, ...(headers === undefined ? {} : { headers }) });

beforeAll(() => synchronize('supervisor1001'));

describe('bodies are JSON whatever they are called (D6, R7)', () => {
  const types = [
    undefined,
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/vnd.api+json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
    'multipart/form-data; boundary=x',
    'nonsense',
  ];
  // Without a text type the gateway passes the body to the function in base64.
  const typed = (type: string | undefined, value: unknown) => ({
    body: new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value)),
    headers: type === undefined ? {} : { 'content-type': type },
  });

  test.each(types)('content type %s', async (type) => {
    const login = { username: 'operator', password: 'demo-operator' };
    expect(await api('POST /login', typed(type, login))).toMatchObject({ status: 200, body: { access: true } });
    const sent = await asSupervisor(`POST /v1/template/messages/${did}`, typed(type, sendBody()));
    expect(sent).toMatchObject({ status: 200, text: '{"success":true}' });
    const foreign = await asSupervisor('POST /v1/templates/sync-from-platform', typed(type, { client_id: 1002 }));
    expectRefusal(foreign, 403, 'cross_client_forbidden');
  });

  // Where a text stops to be JSON is told by test/lib/http/{endpoint,json-fault}.test.ts.
  const malformed = ['{', 'a=1&b=2', '\u0000', 'null', '{"__proto__":{"did":"1"}}'];
  // The first type passes text to the function, the second base64.
  test.each(['application/json', undefined])('malformed bodies of content type %s', async (type) => {
    for (const text of malformed) {
      const bodies = [
        await asSupervisor(`POST /v1/template/messages/${did}`, typed(type, text)),
        await asSupervisor('POST /v1/templates/sync-from-platform', typed(type, text)),
      ];
      for (const reply of bodies) expectRefusal(reply, 400);
    }
  });

  test('bytes that are no UTF-8 are 400, and so is UTF-16', async () => {
    for (const body of [Buffer.from([0xff, 0xfe, 0x7b]), Buffer.from('{"a":1}', 'utf16le')]) {
      expectRefusal(await asSupervisor(`POST /v1/template/messages/${did}`, { body }), 400, 'malformed_body');
      expectRefusal(await api('POST /login', { body }), 400, 'malformed_body');
    }
  });

  const deepRoutes = [
    'POST /login',
    `POST /v1/template/messages/${did}`,
    `POST /v1/template/messages/${did}/unknown/retry`,
    'PATCH /v1/templates/status',
    'POST /v1/templates/sync-from-platform',
    `POST /v1/templates/${did}`,
    `PUT /v1/templates/${did}/unknown`,
    'POST /v1/templates/unknown/channel-campaigns',
    'PUT /v1/templates/unknown/channel-campaigns',
    'PUT /v1/webhook/config',
  ];
  test.each(deepRoutes)('%s: JSON nested deeper than 32 levels is 400 (D6)', async (route) => {
    for (const levels of [33, 1_000]) {
      const body = `{"components":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
      const reply = await asSupervisor(route, { body });
      expectRefusal(reply, 400, 'malformed_body');
      expect(reply.body.message).toBe('the request body must not nest deeper than 32 levels');
    }
  });

  const didRoutes = [
    'POST /v1/template/messages/{did}',
    'POST /v1/template/messages/{did}/unknown/retry',
    'POST /v1/templates/{did}',
    'PUT /v1/templates/{did}/unknown',
    'DELETE /v1/templates/{did}/unknown',
    'GET /v1/catalogs/{did}/products?catalog_id=1',
  ];
  test.each(didRoutes)('%s: a blank DID is 400 (D5)', async (route) => {
    for (const blank of ['%20', '%20%09%0A', '%C2%A0']) {
      const body = route.startsWith('GET') ? {} : { body: { did: ' ', components: [] } };
      const reply = await asSupervisor(route.replace('{did}', blank), body);
      expectRefusal(reply, 400, 'invalid_request');
      expect(reply.body.message).toBe('did is required');
    }
  });

  test('a body is measured before it is parsed, by the limit of its route (D6)', async () => {
    const supervisor = await tokenOf('supervisor1001');
    const limits: readonly (readonly [route: string, maxBytes: number])[] = [
      ['POST /login', 4_096],
      [`POST /v1/template/messages/${did}/unknown/retry`, 65_536],
      ['POST /v1/templates/sync-from-platform', 65_536],
      ['POST /v1/templates/unknown/channel-campaigns', 65_536],
      ['PUT /v1/templates/unknown/channel-campaigns', 65_536],
      ['PUT /v1/webhook/config', 65_536],
      ['PATCH /v1/templates/status', 262_144],
      [`POST /v1/templates/${did}`, 1_048_576],
      [`PUT /v1/templates/${did}/unknown`, 1_048_576],
    ];
    for (const [route, maxBytes] of limits) {
      for (const type of ['application/json', 'application/octet-stream']) {
        const reply = (bytes: number) =>
          api(route, { token: supervisor, body: '{'.repeat(bytes), headers: { 'content-type': type } });
        expectRefusal(await reply(maxBytes + 1), 413, 'payload_too_large');
        expectRefusal(await reply(maxBytes), 400, 'malformed_body');
      }
    }
  });
});

describe('what the gateway answers by itself (R5)', () => {
  const gatewayAnswer = (reply: ApiReply) => ({ status: reply.status, text: reply.text });

  test.each([
    'GET /v1/templates/',
    `PATCH /v1/template/messages/${did}`,
    `POST /v1/template/messages/${did}/more`,
    'OPTIONS /login',
    'PUT /login',
  ])('%s is 404', async (route) => {
    const reply = await asSupervisor(route);
    expect(gatewayAnswer(reply)).toEqual({ status: 404, text: '{"message":"Not Found"}' });
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
  });

  test('HEAD has no route of its own', async () => {
    expect(gatewayAnswer(await asSupervisor('HEAD /health'))).toEqual({ status: 404, text: '' });
  });

  test.each([6.3, 9.9])('a body of %f MB is more than a function takes: 413', async (megabytes) => {
    const body = 'x'.repeat(megabytes * 1_000_000);
    for (const type of ['text/plain', 'application/octet-stream']) {
      const reply = await send(body, { 'content-type': type });
      expect(gatewayAnswer(reply)).toEqual({ status: 413, text: '{"message":"Request Entity Too Large"}' });
    }
  });

  test('a body of 6 MB reaches the function, which says what is wrong with it', async () => {
    expectRefusal(await send('x'.repeat(6_000_000), { 'content-type': 'text/plain' }), 400, 'malformed_body');
  });

  test('request line and header values over 10,240 bytes are 431; a little less is served', async () => {
    const withHeader = (bytes: number) => api('GET /health', { headers: { 'x-filler': 'x'.repeat(bytes) } });
    expect(await withHeader(9_500)).toMatchObject({ status: 200 });
    const over = await withHeader(10_240);
    expect(gatewayAnswer(over)).toEqual({ status: 431, text: '{"message":"Request Header Fields Too Large"}' });
    expect((await asSupervisor(`GET /v1/templates?search=${'x'.repeat(10_240)}`)).status).toBe(431);
  });
});
