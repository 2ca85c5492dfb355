import { describe, expect, it } from 'vitest';
import { corsOf } from '../../../infra/local/cors.ts';
import { gatewayAnswer } from '../../../infra/local/http-answer.ts';
import { isLoopbackOrigin } from '../../../infra/loopback.ts';

const page = 'https://app.example.com';
const configured = {
  allowOrigins: [page, 'http://localhost:5173'],
  allowMethods: ['GET', 'POST'],
  allowHeaders: ['Authorization', 'Dry-Run'],
  exposeHeaders: ['Dispatch-Id', 'Retry-After'],
  maxAgeSeconds: 600,
};
const cors = corsOf(configured);

const preflightOf = (headers: Record<string, string | undefined>, method = 'OPTIONS') => ({
  method,
  headers: { origin: page, 'access-control-request-method': 'POST', ...headers },
});

describe('a preflight request', () => {
  it.each([
    {},
    { 'access-control-request-headers': 'authorization' },
    { 'access-control-request-headers': 'DRY-RUN, authorization' },
    { 'access-control-request-headers': '' },
  ])('that asks for what is allowed is told all that is: %j', (headers) => {
    expect(cors.preflight(preflightOf(headers))).toEqual({
      status: 204,
      headers: {
        'access-control-allow-origin': page,
        'access-control-allow-methods': 'GET,POST',
        'access-control-allow-headers': 'authorization,dry-run',
        'access-control-expose-headers': 'dispatch-id,retry-after',
        'access-control-max-age': '600',
      },
      cookies: [],
      body: Buffer.alloc(0),
    });
  });

  it.each([
    { origin: 'https://app.example.com.evil.example' },
    { origin: 'https://APP.example.com' },
    { origin: 'null' },
    { 'access-control-request-method': 'DELETE' },
    { 'access-control-request-method': 'post' },
    { 'access-control-request-headers': 'authorization, x-secret' },
  ])('that asks for anything else is 204 and told nothing: %j', (headers) => {
    expect(cors.preflight(preflightOf(headers))).toMatchObject({ status: 204, headers: {} });
    expect(Object.keys(cors.preflight(preflightOf(headers))?.headers ?? { none: '' })).toEqual([]);
  });

  it.each([
    preflightOf({}, 'POST'),
    preflightOf({ origin: '' }),
    preflightOf({ 'access-control-request-method': '' }),
    { method: 'OPTIONS', headers: {} },
  ])('is none without its method and both headers: %j', (request) => {
    expect(cors.preflight(request)).toBeUndefined();
  });
});

describe('any other answer', () => {
  const answer = {
    ...gatewayAnswer(404),
    headers: { 'content-type': 'application/json', 'access-control-allow-origin': 'https://own.example.com' },
  };

  it('gets the headers of an allowed origin, in the place of those of the function', () => {
    expect(cors.completed(answer, { method: 'GET', headers: { origin: page } })).toEqual({
      ...answer,
      headers: {
        'content-type': 'application/json',
        'access-control-allow-origin': page,
        'access-control-expose-headers': 'dispatch-id,retry-after',
      },
    });
  });

  it.each([{}, { origin: 'https://other.example.com' }])('gets none for %j', (headers) => {
    const { headers: given } = cors.completed(answer, { method: 'GET', headers });
    expect(given).toEqual({ 'content-type': 'application/json' });
  });

  it('is * where all origins are allowed', () => {
    const open = corsOf({ ...configured, allowOrigins: ['*'] });
    const { headers } = open.completed(answer, { method: 'GET', headers: { origin: 'https://other.example.com' } });
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(open.preflight(preflightOf({ origin: 'null' }))?.headers['access-control-allow-origin']).toBe('*');
  });
});

describe('pages of this machine', () => {
  const local = corsOf({ ...configured, allowOrigins: [] }, isLoopbackOrigin);

  it.each([
    'http://localhost:5173',
    'https://localhost',
    'http://127.0.0.1:9',
    'https://[::1]:8443',
    'http://app.localhost:3000',
  ])('%s may ask', (origin) => {
    expect(local.preflight(preflightOf({ origin }))?.headers['access-control-allow-origin']).toBe(origin);
  });

  it.each([
    'https://app.example.com',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://evil-localhost',
    'http://localhost:80@evil.example',
    'http://LOCALHOST:3000',
    'http://localhost/',
    'http://127.0.0.2',
    'ftp://localhost',
    'null',
  ])('%s is none', (origin) => {
    expect(local.preflight(preflightOf({ origin }))?.headers).toEqual({});
  });

  it('may ask nothing where the API says nothing of other origins', () => {
    expect(corsOf(undefined, isLoopbackOrigin).preflight(preflightOf({}))).toBeUndefined();
  });
});

it('is off without configuration: OPTIONS is a method like any other', () => {
  const none = corsOf(undefined);
  const answer = gatewayAnswer(404);
  expect(none.preflight(preflightOf({}))).toBeUndefined();
  expect(none.completed(answer, { method: 'GET', headers: { origin: page } })).toBe(answer);
});
