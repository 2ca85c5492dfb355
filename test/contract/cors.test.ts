import { describe, expect, test } from 'vitest';
import { addressOf } from '../support/addresses.ts';
import { type ApiRequest, api, tokenOf } from '../support/api.ts';

/* Browsers ask for pages of other origins (D52). The local stack allows origins of this machine. */

const page = addressOf('platformUrl');
const foreign = 'https://pages.example.com';
const send = '/v1/template/messages/5491100000001';
const allowed =
  'authorization,content-type,dry-run,idempotency-key,max-cost,webhook-secret-rotate,send-at,send-days,send-window,send-zone';
const exposed =
  'dispatch-id,webhook-secret,template-warning,link,x-request-id,retry-after,x-ratelimit-limit,x-ratelimit-remaining,x-ratelimit-reset';

function preflight(origin: string, path: string, method: string, headers = 'authorization,content-type') {
  const asked = { 'access-control-request-method': method, 'access-control-request-headers': headers };
  return api(`OPTIONS ${path}`, { headers: { origin, ...asked } });
}

/** The browser reads these headers before it shows the answer to the page. */
const shown = (headers: Headers) => [...headers].filter(([name]) => name.startsWith('access-control-'));

describe('a preflight request', () => {
  test.each([
    [send, 'POST', 'authorization,content-type,dry-run,idempotency-key,send-at,max-cost'],
    ['/v1/webhook/config', 'PUT', 'authorization,content-type,webhook-secret-rotate'],
    ['/v1/templates/status', 'PATCH', 'authorization,content-type'],
    [`${send}/01KAH00000000000000000000A`, 'DELETE', 'authorization'],
    ['/login', 'POST', 'content-type'],
    ['/v1/nothing/of/the/kind', 'GET', 'authorization'],
  ])('of our own page for %s %s is answered without a token', async (path, method, headers) => {
    const reply = await preflight(page, path, method, headers);
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect(Object.fromEntries(shown(reply.headers))).toEqual({
      'access-control-allow-origin': page,
      'access-control-allow-methods': 'GET,POST,PUT,PATCH,DELETE',
      'access-control-allow-headers': allowed,
      'access-control-expose-headers': exposed,
      'access-control-max-age': '600',
    });
  });

  test.each([
    ['of a foreign page', foreign, 'POST', undefined],
    ['of a page whose name begins like ours', 'http://localhost.example.com:5173', 'POST', undefined],
    ['that asks for a method that there is not', page, 'TRACE', undefined],
    ['that asks for a header that we do not read', page, 'POST', 'authorization,x-origin-key'],
  ])('%s is told nothing', async (_, origin, method, headers) => {
    const reply = await preflight(origin, send, method, headers);
    expect([reply.status, shown(reply.headers)]).toEqual([204, []]);
  });

  test.each(['http://localhost:5173', 'https://127.0.0.1:8443', 'http://[::1]:3000', 'http://app.localhost'])(
    'of %s, a page of this machine, is allowed',
    async (local) => {
      expect((await preflight(local, send, 'POST')).headers.get('access-control-allow-origin')).toBe(local);
    },
  );
});

describe('the answer to a request', () => {
  const cases: [string, string, () => Promise<ApiRequest>, number][] = [
    ['of a function', 'GET /health', async () => ({}), 200],
    [
      'of a function behind the authorizer',
      'GET /v1/campaigns',
      async () => ({ token: await tokenOf('agent1001') }),
      200,
    ],
    ['a refusal', `POST ${send}`, async () => ({ token: await tokenOf('supervisor1001'), body: {} }), 400],
    ['no token: the gateway’s own', 'GET /v1/campaigns', async () => ({}), 401],
    ['a token that the authorizer does not take', 'GET /v1/campaigns', async () => ({ token: 'made-up' }), 401],
    ['no route: the gateway’s own', 'GET /v1/nothing', async () => ({}), 404],
    ['a head that is too large', 'GET /health', async () => ({ headers: { 'x-long': 'x'.repeat(11_000) } }), 431],
  ];
  test.each(cases)('%s is shown to a page of this machine and to no other', async (_, route, asking, status) => {
    const request = await asking();
    const from = (origin?: string) =>
      api(route, { ...request, headers: { ...request.headers, ...(origin === undefined ? {} : { origin }) } });
    const [own, other, withoutOrigin] = [await from(page), await from(foreign), await from()];
    expect([own.status, other.status, withoutOrigin.status]).toEqual([status, status, status]);
    expect(Object.fromEntries(shown(own.headers))).toEqual({
      'access-control-allow-origin': page,
      'access-control-expose-headers': exposed,
    });
    expect([shown(other.headers), shown(withoutOrigin.headers)]).toEqual([[], []]);
  });

  test('OPTIONS without the headers of a preflight is a route that there is not', async () => {
    expect((await api('OPTIONS /health', { headers: { origin: page } })).status).toBe(404);
    expect((await api('OPTIONS /health')).status).toBe(404);
  });
});
