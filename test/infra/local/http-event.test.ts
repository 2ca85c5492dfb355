import { describe, expect, it } from 'vitest';
import {
  authorizerEvent,
  headBytes,
  httpEvent,
  type IncomingRequest,
  isTextType,
  withAuthorizerContext,
} from '../../../infra/local/http-event.ts';

function makeRequest(overrides: Partial<IncomingRequest> = {}): IncomingRequest {
  return {
    method: 'POST',
    rawPath: '/v1/template/messages/549%2011',
    rawQueryString: '',
    protocol: 'HTTP/1.1',
    rawHeaders: ['Host', 'api.example.test', 'User-Agent', 'probe/1'],
    body: Buffer.alloc(0),
    sourceIp: '127.0.0.1',
    ...overrides,
  };
}

const facts = {
  routeKey: 'POST /v1/template/messages/{did}',
  pathParameters: { did: '549 11' },
  requestId: 'request-1',
  nowMs: Date.UTC(2020, 2, 5, 9, 3, 58, 123),
};

describe('payload format 2.0', () => {
  it('has exactly the fields of the format', () => {
    expect(httpEvent(makeRequest(), facts)).toEqual({
      version: '2.0',
      routeKey: 'POST /v1/template/messages/{did}',
      rawPath: '/v1/template/messages/549 11',
      rawQueryString: '',
      headers: {
        host: 'api.example.test',
        'user-agent': 'probe/1',
        'content-length': '0',
        'x-forwarded-for': '127.0.0.1',
      },
      requestContext: {
        accountId: '000000000000',
        apiId: 'local',
        domainName: 'api.example.test',
        domainPrefix: 'api',
        http: {
          method: 'POST',
          path: '/v1/template/messages/549 11',
          protocol: 'HTTP/1.1',
          sourceIp: '127.0.0.1',
          userAgent: 'probe/1',
        },
        requestId: 'request-1',
        routeKey: 'POST /v1/template/messages/{did}',
        stage: '$default',
        time: '05/Mar/2020:09:03:58 +0000',
        timeEpoch: facts.nowMs,
      },
      pathParameters: { did: '549 11' },
      isBase64Encoded: false,
    });
  });

  it('leaves out path parameters, query and cookies that are not there', () => {
    const event = httpEvent(makeRequest(), { ...facts, pathParameters: {} });
    expect(Object.keys(event)).toEqual(expect.not.arrayContaining(['pathParameters', 'queryStringParameters']));
    expect(Object.keys(event)).toEqual(expect.not.arrayContaining(['cookies', 'body', 'stageVariables']));
  });

  it('keeps the query as sent and decodes it, repeated names joined with commas', () => {
    const rawQueryString = 'client_id=1&client_id=2&search=a%20b+c&empty=&constructor=x&__proto__=y';
    const event = httpEvent(makeRequest({ rawQueryString }), facts);
    expect(event.rawQueryString).toBe(rawQueryString);
    expect(Object.entries(event.queryStringParameters ?? {})).toEqual([
      ['client_id', '1,2'],
      ['search', 'a b c'],
      ['empty', ''],
      ['constructor', 'x'],
      ['__proto__', 'y'],
    ]);
  });

  it('lower-cases header names, joins repeated ones, and drops those of the connection', () => {
    const rawHeaders = ['X-Tag', 'a', 'x-tag', 'b', 'Connection', 'keep-alive', 'X-Forwarded-For', '10.0.0.1'];
    const { headers } = httpEvent(makeRequest({ rawHeaders, body: Buffer.from('é') }), facts);
    expect(headers).toEqual({ 'x-tag': 'a,b', 'x-forwarded-for': '10.0.0.1, 127.0.0.1', 'content-length': '2' });
  });

  it('puts cookies into an array and out of the headers', () => {
    const event = httpEvent(makeRequest({ rawHeaders: ['Cookie', 'a=1; b=2', 'cookie', 'c=3'] }), facts);
    expect(event.cookies).toEqual(['a=1', 'b=2', 'c=3']);
    expect(event.headers).not.toHaveProperty('cookie');
  });

  it('adds what the authorizer said', () => {
    const event = withAuthorizerContext(httpEvent(makeRequest(), facts), { clientId: '1001' });
    expect(event.requestContext).toMatchObject({
      requestId: 'request-1',
      authorizer: { lambda: { clientId: '1001' } },
    });
  });
});

describe('the base64 rule', () => {
  it.each([
    ['text/plain', true],
    ['text/csv; charset=utf-8', true],
    ['application/json', true],
    ['Application/JSON; charset=UTF-8', true],
    ['application/xml', true],
    ['application/javascript', true],
    ['application/problem+json', false],
    ['application/x-www-form-urlencoded', false],
    ['multipart/form-data; boundary=x', false],
    ['application/octet-stream', false],
    ['', false],
    [undefined, false],
  ])('%s is text: %s', (contentType, text) => {
    expect(isTextType(contentType)).toBe(text);
    const rawHeaders = contentType === undefined ? [] : ['content-type', contentType];
    const event = httpEvent(makeRequest({ rawHeaders, body: Buffer.from('{"a":"ñ"}') }), facts);
    expect(event.isBase64Encoded).toBe(!text);
    expect(event.body).toBe(text ? '{"a":"ñ"}' : 'eyJhIjoiw7EifQ==');
  });
});

describe('the authorizer event', () => {
  it('is the request without its body, with the identity values and the route', () => {
    const request = makeRequest({ rawHeaders: ['content-type', 'text/plain'], body: Buffer.from('secret') });
    const event = authorizerEvent(httpEvent(request, facts), ['Bearer t'], 'us-east-1');
    expect(event).toMatchObject({
      version: '2.0',
      type: 'REQUEST',
      routeKey: facts.routeKey,
      identitySource: ['Bearer t'],
      cookies: [],
      routeArn: 'arn:aws:execute-api:us-east-1:000000000000:local/$default/POST/v1/template/messages/549 11',
    });
    expect(event).not.toHaveProperty('body');
    expect(event).not.toHaveProperty('isBase64Encoded');
  });
});

describe('the size of the request head', () => {
  it('counts the request line and header values, not header names', () => {
    const request = makeRequest({ rawPath: '/é', rawQueryString: 'q=1', rawHeaders: ['Name', 'value'] });
    expect(headBytes(request)).toBe('POST /XX?q=1 HTTP/1.1'.length + 'value'.length);
  });
});
