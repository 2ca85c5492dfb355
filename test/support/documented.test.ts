import { expect, test } from 'vitest';
import { documentFaults, type Exchange } from './documented.ts';

// The contract tests rely on this check: it must report every difference from the document.

const campaigns = { data: [{ id: 10, name: 'Onboarding' }], total: 1 };
const own = { 'x-request-id': 'r-1', 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' };

function makeExchange({ body, ...given }: Partial<Exchange> & { readonly body?: unknown } = {}): Exchange {
  const base = { method: 'GET', path: '/v1/campaigns', requestHeaders: new Headers(), requestBody: undefined };
  return { ...base, status: 200, headers: new Headers(own), text: JSON.stringify(body ?? campaigns), ...given };
}

const did = '5491100000001';
const send = { method: 'POST', path: `/v1/template/messages/${did}`, body: { success: true } } as const;
const sent = JSON.stringify({
  did,
  type: 'template',
  channel: 'MESSAGING',
  template: { name: 'order_update', language: 'en_US' },
  recipients: [{ to: '5491155550001' }],
});
const refusal = { code: 'invalid_request', message: 'a value is wrong' };
const withHeader = (name: string, value: string) => new Headers({ ...own, [name]: value });
function withoutHeader(name: string): Headers {
  const headers = new Headers(own);
  headers.delete(name);
  return headers;
}

test.each<[string, Partial<Exchange> & { readonly body?: unknown }]>([
  ['an answer', {}],
  ['a filter that is empty', { path: '/v1/campaigns?client_id=' }],
  ['a refusal', { status: 400, body: refusal, path: '/v1/campaigns?client_id=abc' }],
  [
    'what the gateway says',
    { status: 401, body: { message: 'Unauthorized' }, headers: new Headers({ 'content-type': 'application/json' }) },
  ],
  ['no route', { path: '/v1/campaign', status: 404, body: { message: 'Not Found' } }],
  ['a send', { ...send, requestBody: sent, headers: withHeader('dispatch-id', '01KAH00000000000000000000A') }],
])('%s is as the document says', async (_, exchange) => {
  expect(await documentFaults(makeExchange(exchange))).toEqual([]);
});

test.each<[string, Partial<Exchange> & { readonly body?: unknown }, RegExp]>([
  ['a route', { path: '/v1/secrets' }, /^no route is documented that answers 200$/],
  ['a method', { method: 'PUT' }, /^no route is documented/],
  ['a status', { status: 202 }, /the status 202 \(code undefined\) is not documented/],
  [
    'a code',
    { status: 400, body: { ...refusal, code: 'invalid_recipients' } },
    /code invalid_recipients is not documented/,
  ],
  ['a refusal without a code', { status: 401, body: { message: 'Unauthorized' } }, /^a refusal without a code$/],
  ['a header', { headers: withHeader('x-internal', 'pk') }, /^the header x-internal is not documented$/],
  ['a header that is missing', { headers: withoutHeader('x-request-id') }, /^the header X-Request-Id is missing$/],
  ['the value of a header', { headers: withHeader('x-ratelimit-limit', 'many') }, /^header X-RateLimit-Limit/],
  ['a content type', { headers: withHeader('content-type', 'text/html') }, /^the content type text\/html/],
  ['a field', { body: { ...campaigns, pk: 'x' } }, /additional properties .*pk/],
  ['a field below', { body: { ...campaigns, data: [{ id: 10, name: 'x', pk: 'x' }] } }, /additional properties .*pk/],
  ['a field that is missing', { body: { data: [] } }, /required property 'total'/],
  ['the type of a field', { body: { ...campaigns, total: '1' } }, /body \/total: must be integer/],
  ['text that is no JSON', { text: '<html>' }, /^body : must be object/],
  ['a parameter of an accepted request', { path: '/v1/campaigns?client_id=abc' }, /^query client_id/],
  [
    'a header of an accepted request',
    { ...send, requestBody: sent, requestHeaders: new Headers({ 'dry-run': 'yes' }) },
    /^header Dry-Run/,
  ],
  ['the body of an accepted request', { ...send, requestBody: sent.replace('"did"', '"dud"') }, /^request body .*did/],
  ['an accepted request without its body', { ...send }, /no body was sent and it was accepted/],
])('%s that is not documented is told', async (_, exchange, fault) => {
  const faults = await documentFaults(makeExchange(exchange));
  expect(
    faults.filter((each) => fault.test(each)),
    faults.join('\n'),
  ).not.toEqual([]);
});
