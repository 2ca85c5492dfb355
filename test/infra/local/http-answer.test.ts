import { describe, expect, it } from 'vitest';
import { answerOfFunction, gatewayAnswer } from '../../../infra/local/http-answer.ts';

function shown(payload: unknown) {
  const { status, headers, body } = answerOfFunction(payload);
  return { status, type: headers['content-type'], body: body.toString() };
}

describe('the response rule', () => {
  it.each([
    ['an object without statusCode', { ok: true }, '{"ok":true}'],
    ['an object with a body but no statusCode', { body: 'x' }, '{"body":"x"}'],
    ['a text', 'plain', '"plain"'],
    ['nothing', undefined, 'null'],
    ['a list', [1], '[1]'],
  ])('%s is the body of a 200', (_name, payload, body) => {
    expect(shown(payload)).toEqual({ status: 200, type: 'application/json', body });
  });

  it.each([
    ['a text', { statusCode: '200' }],
    ['null', { statusCode: null }],
    ['zero', { statusCode: 0 }],
    ['an interim status', { statusCode: 101 }],
    ['out of range', { statusCode: 600 }],
    ['not whole', { statusCode: 200.5 }],
    ['usable beside an object body', { statusCode: 200, body: { a: 1 } }],
    ['usable beside broken headers', { statusCode: 200, headers: { a: { b: 1 } } }],
    ['usable beside a header value with a line break', { statusCode: 200, headers: { a: 'b\nc' } }],
    ['usable beside a header name with a space', { statusCode: 200, headers: { 'a b': 'c' } }],
    ['usable beside a cookie with a line break', { statusCode: 200, cookies: ['a=1\r\nb: 2'] }],
  ])('a statusCode that is %s is a 500', (_name, payload) => {
    expect(shown(payload)).toEqual({
      status: 500,
      type: 'application/json',
      body: '{"message":"Internal Server Error"}',
    });
  });

  it('is plain text when the function names no content type', () => {
    expect(shown({ statusCode: 201, body: 'hi' })).toEqual({
      status: 201,
      type: 'text/plain; charset=utf-8',
      body: 'hi',
    });
  });

  it('takes the content type in any spelling, and decodes base64', () => {
    const payload = { statusCode: 200, headers: { 'Content-Type': 'image/png' }, body: 'aGk=', isBase64Encoded: true };
    expect(shown(payload)).toEqual({ status: 200, type: 'image/png', body: 'hi' });
  });

  it('passes cookies on', () => {
    expect(answerOfFunction({ statusCode: 204, cookies: ['a=1', 'b=2'] }).cookies).toEqual(['a=1', 'b=2']);
  });
});

describe('the bodies of the gateway', () => {
  it.each([
    [400, 'Bad Request'],
    [401, 'Unauthorized'],
    [403, 'Forbidden'],
    [404, 'Not Found'],
    [413, 'Request Entity Too Large'],
    [431, 'Request Header Fields Too Large'],
    [500, 'Internal Server Error'],
    [503, 'Service Unavailable'],
  ] as const)('%i is %s', (status, message) => {
    const answer = gatewayAnswer(status);
    expect(answer.status).toBe(status);
    expect(answer.body.toString()).toBe(`{"message":"${message}"}`);
    expect(answer.headers).toEqual({ 'content-type': 'application/json' });
  });
});
