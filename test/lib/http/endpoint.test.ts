import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { answer, shaped } from '../../../lib/http/answer.ts';
import { type BodyReader, bodyMaxBytes, noBody } from '../../../lib/http/body.ts';
import { jsonBody } from '../../../lib/http/json-body.ts';
import { publicEndpoint } from '../../../lib/http/public-endpoint.ts';
import { invalid, Refusal } from '../../../lib/http/refusal.ts';
import { callEndpoint, makeHttpEvent } from '../../support/http-event.ts';

const echoOf = (body: BodyReader) =>
  publicEndpoint(body, async (event) => answer(200, shaped(v.unknown(), { got: event.body })));

/**
 * Bodies up to the size of bulk status use middy's parser; larger ones use one without a reviver. Both obey the same
 * rules.
 */
describe.each(Object.entries(bodyMaxBytes))('JSON bodies of a %s route (D6)', (_, maxBytes) => {
  const echo = echoOf(jsonBody({ maxBytes }));

  const accepted = [
    { name: 'application/json', headers: { 'content-type': 'application/json' }, body: '{"a":1}' },
    { name: 'a charset', headers: { 'content-type': 'application/json; charset=utf-8' }, body: '{"a":1}' },
    { name: 'no content type', headers: {}, body: '{"a":1}' },
    { name: 'another content type', headers: { 'content-type': 'text/plain' }, body: '{"a":1}' },
    { name: 'base64', headers: {}, body: Buffer.from('{"a":1}').toString('base64'), isBase64Encoded: true },
  ];
  test.each(accepted)('are read with $name', async ({ name: _, ...event }) => {
    expect(await callEndpoint(echo, makeHttpEvent(event))).toMatchObject({ status: 200, body: { got: { a: 1 } } });
  });

  const refused = [undefined, '', '{', 'null', '[]', '"text"', '1', '\ufeff{}'];
  test.each(refused)('%j is refused with 400', async (body) => {
    expect(await callEndpoint(echo, makeHttpEvent(body === undefined ? {} : { body }))).toMatchObject({
      status: 400,
      body: { code: 'malformed_body' },
    });
  });

  test.each([
    ['{"__proto__":{}}', 'forbidden key: __proto__'],
    ['{"a":[{"\\u005f_proto__":1}]}', 'forbidden key: __proto__'],
    ['{"constructor":{"prototype":1}}', 'forbidden key: constructor'],
  ])('a key that would change what holds it is named: %s', async (body, message) => {
    expect(await callEndpoint(echo, makeHttpEvent({ body }))).toMatchObject({
      status: 400,
      body: { code: 'malformed_body', message },
    });
  });

  const nested = (levels: number, inner = '') => `{"a":${'['.repeat(levels - 1)}${inner}${']'.repeat(levels - 1)}}`;
  const tooDeep = 'the request body must not nest deeper than 32 levels';
  const noJson = 'the request body must be valid JSON';
  test.each([
    ['33 levels', nested(33), tooDeep],
    ['10,000 levels', nested(10_000), tooDeep],
    ['33 levels of objects', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`, tooDeep],
    [
      '10,000 levels that stay open',
      '['.repeat(10_000),
      `${noJson}: line 1, column 10001: expected a value or ], received the end`,
    ],
    ['33 levels behind a string with brackets', `{"b":"]]]","a":${nested(32)}}`, tooDeep],
  ])('%s are refused', async (_, body, message) => {
    expect(await callEndpoint(echo, makeHttpEvent({ body }))).toMatchObject({ status: 400, body: { message } });
  });

  test.each([
    ['32 levels', nested(32)],
    ['32 levels around brackets in a string', nested(32, JSON.stringify(`[{"\\${'[{'.repeat(40)}`))],
    ['many brackets side by side', `{"a":[${'[],{},'.repeat(100)}[]]}`],
  ])('%s are read', async (_, body) => {
    expect(await callEndpoint(echo, makeHttpEvent({ body }))).toMatchObject({ status: 200 });
  });

  test('bytes that are no UTF-8 are refused with 400', async () => {
    const body = Buffer.from([...Buffer.from('{"a":"'), 0xff, ...Buffer.from('"}')]).toString('base64');
    const event = makeHttpEvent({ body, isBase64Encoded: true });
    const message = `${noJson}: line 1, column 7: expected UTF-8, received another encoding`;
    expect(await callEndpoint(echo, event)).toMatchObject({ status: 400, body: { message } });
  });
});

describe('JSON bodies (D6)', () => {
  const echo = echoOf(jsonBody({ maxBytes: 100 }));
  const got = async (overrides: Parameters<typeof makeHttpEvent>[0]) => callEndpoint(echo, makeHttpEvent(overrides));

  test('the limit counts bytes, and those of base64 by its length', async () => {
    const json = (bytes: number) => `{"a":"ü${'x'.repeat(bytes - 10)}"}`;
    const asBase64 = (text: string) => ({ body: Buffer.from(text).toString('base64'), isBase64Encoded: true });
    expect(Buffer.byteLength(json(100))).toBe(100);
    for (const fits of [{ body: json(100) }, asBase64(json(100)), asBase64(json(99)), asBase64(json(98))]) {
      expect(await got(fits)).toMatchObject({ status: 200 });
    }
    for (const large of [{ body: json(101) }, asBase64(json(101)), { body: '{'.repeat(101) }]) {
      expect(await got(large)).toMatchObject({
        status: 413,
        body: { code: 'payload_too_large', message: 'the request body must have at most 100 bytes' },
      });
    }
  });

  test('a body that is not there stands for {} where all fields are optional', async () => {
    const lenient = echoOf(jsonBody({ maxBytes: 100, optional: true }));
    for (const body of [undefined, '', '{}']) {
      const event = makeHttpEvent(body === undefined ? {} : { body });
      expect(await callEndpoint(lenient, event)).toMatchObject({ status: 200, body: { got: {} } });
    }
    expect(await callEndpoint(lenient, makeHttpEvent({ body: 'null' }))).toMatchObject({ status: 400 });
  });

  test('a page that takes no body gets none, whatever came', async () => {
    for (const body of ['{', 'x'.repeat(1_000_000)]) {
      expect((await callEndpoint(echoOf(noBody), makeHttpEvent({ body }))).body).toEqual({});
    }
  });
});

describe('refusals become answers once', () => {
  test('with message, code, platform code and faults, and nothing else (D1)', async () => {
    const refusing = publicEndpoint(noBody, async () => {
      throw new Refusal('platform_refused', 'The name is taken', {
        platformCode: 100,
        errors: [{ path: 'name', message: 'taken' }],
      });
    });
    expect((await callEndpoint(refusing, makeHttpEvent())).body).toEqual({
      message: 'The name is taken',
      code: 'platform_refused',
      platform_code: 100,
      errors: [{ path: 'name', message: 'taken' }],
    });
  });

  test('a failed login has a zero-length body (D11)', async () => {
    const refusing = publicEndpoint(noBody, async () => {
      throw new Refusal('invalid_credentials', 'never shown');
    });
    expect(await callEndpoint(refusing, makeHttpEvent())).toMatchObject({ status: 401, text: '' });
  });

  test('an unexpected error is a 500 without its text (R5)', async () => {
    const broken = publicEndpoint(noBody, async () => {
      throw new TypeError('secret detail');
    });
    const reply = await callEndpoint(broken, makeHttpEvent());
    expect(reply.status).toBe(500);
    expect(reply.text).toBe('{"message":"internal error","code":"internal_error"}');
  });

  test('an endpoint that runs late answers 502 before the gateway gives up (R6)', async () => {
    const late = publicEndpoint(noBody, () => new Promise<never>(() => undefined));
    expect(await callEndpoint(late, makeHttpEvent(), 4_010)).toMatchObject({
      status: 502,
      body: { code: 'platform_unreachable' },
    });
  });
});

test.each([
  ['an answer', async () => answer(200, shaped(v.unknown(), {}), { 'dispatch-id': 'dispatch-1' })],
  ['a refusal', () => Promise.reject(invalid('did', 'did is required'))],
  ['a failed login', () => Promise.reject(new Refusal('invalid_credentials', 'never shown'))],
  ['a fault of ours', () => Promise.reject(new TypeError('secret detail'))],
])('%s says in x-request-id which request it is the answer to', async (_, handle) => {
  const { headers } = await callEndpoint(
    publicEndpoint(noBody, handle),
    makeHttpEvent({ headers: { 'x-request-id': 'chosen' } }),
  );
  expect(headers['x-request-id']).toBe('request-1');
  expect(headers['cache-control']).toBe('no-store');
});
