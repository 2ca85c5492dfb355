import { describe, expect, test } from 'vitest';
import { answer } from '../../../lib/http/answer.ts';
import { endpoint } from '../../../lib/http/endpoint.ts';
import { invalid, Refusal } from '../../../lib/http/refusal.ts';
import { callEndpoint, makeHttpEvent } from '../../support/http-event.ts';

const echo = endpoint(async (event) => answer(200, { got: event.body }), { body: 'json' });

describe('JSON bodies (D6)', () => {
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

  const refused = [
    '',
    '{',
    'null',
    '[]',
    '"text"',
    '1',
    '{"__proto__":{}}',
    '{"constructor":{"prototype":1}}',
    '\ufeff{}',
  ];
  test.each(refused)('%j is refused with 400', async (body) => {
    expect(await callEndpoint(echo, makeHttpEvent({ body }))).toMatchObject({
      status: 400,
      body: { code: 'malformed_body' },
    });
  });

  test('a missing body is refused with 400', async () => {
    expect(await callEndpoint(echo, makeHttpEvent())).toMatchObject({ status: 400, body: { code: 'malformed_body' } });
  });
});

describe('refusals become answers once', () => {
  test('with message, code, platform code and faults, and nothing else (D1)', async () => {
    const refusing = endpoint(async () => {
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
    const refusing = endpoint(async () => {
      throw new Refusal('invalid_credentials', 'never shown');
    });
    expect(await callEndpoint(refusing, makeHttpEvent())).toMatchObject({ status: 401, text: '' });
  });

  test('an unexpected error is a 500 without its text (R5)', async () => {
    const broken = endpoint(async () => {
      throw new TypeError('secret detail');
    });
    const reply = await callEndpoint(broken, makeHttpEvent());
    expect(reply.status).toBe(500);
    expect(reply.text).toBe('{"message":"internal error","code":"internal_error"}');
  });

  test('an endpoint that runs late answers 502 before the gateway gives up (R6)', async () => {
    const late = endpoint(() => new Promise<never>(() => undefined));
    expect(await callEndpoint(late, makeHttpEvent(), 4_010)).toMatchObject({
      status: 502,
      body: { code: 'platform_unreachable' },
    });
  });

  test('a fault of one field names it', async () => {
    const refusing = endpoint(async () => {
      throw invalid('did', 'did is required');
    });
    expect((await callEndpoint(refusing, makeHttpEvent())).body).toEqual({
      message: 'did is required',
      code: 'invalid_request',
      errors: [{ path: 'did', message: 'did is required' }],
    });
  });
});

test.each([
  ['an answer', async () => answer(200, {}, { 'dispatch-id': 'job-1' })],
  ['a refusal', () => Promise.reject(invalid('did', 'did is required'))],
  ['a failed login', () => Promise.reject(new Refusal('invalid_credentials', 'never shown'))],
  ['a fault of ours', () => Promise.reject(new TypeError('secret detail'))],
])('%s says in x-request-id which request it is the answer to', async (_, handle) => {
  const { headers } = await callEndpoint(endpoint(handle), makeHttpEvent({ headers: { 'x-request-id': 'chosen' } }));
  expect(headers['x-request-id']).toBe('request-1');
  expect(headers['cache-control']).toBe('no-store');
});
