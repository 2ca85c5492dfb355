import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { answer, movedTo, plainText, refusalAnswer, shaped } from '../../../lib/http/answer.ts';
import { Refusal } from '../../../lib/http/refusal.ts';

const Thing = v.object({ id: v.string(), parts: v.array(v.object({ name: v.optional(v.string()) })) });

test('what the schema does not name stays inside, at every level (D48)', () => {
  const stored = { id: 'a', pk: 'secret', parts: [{ name: 'b', cost: 3 }, {}] };
  expect(answer(200, shaped(Thing, stored)).body).toBe('{"id":"a","parts":[{"name":"b"},{}]}');
});

test('what is not as documented is no answer', () => {
  expect(() => shaped(Thing, { id: 5 as unknown as string, parts: [] })).toThrow(v.ValiError);
  expect(() => shaped(Thing, { id: 'a' } as never)).toThrow(v.ValiError);
});

test('a refusal tells nothing but what a refusal has', () => {
  const faults = [{ path: 'did', message: 'did is required', input: 'secret' }];
  const refusal = new Refusal('invalid_request', 'did is required', { errors: faults, platformCode: 100 });
  expect(JSON.parse(refusalAnswer(refusal).body ?? '')).toEqual({
    message: 'did is required',
    code: 'invalid_request',
    platform_code: 100,
    errors: [{ path: 'did', message: 'did is required' }],
  });
});

test('a refusal without faults of fields says none, and hands on its headers', () => {
  const headers = { 'retry-after': '60' };
  for (const details of [{ headers }, { headers, errors: [] }]) {
    const told = refusalAnswer(new Refusal('platform_rate_limited', 'later', details));
    expect(JSON.parse(told.body ?? '')).toEqual({ message: 'later', code: 'platform_rate_limited' });
    expect(told.headers).toMatchObject(headers);
  }
});

describe('an answer says its content type and who may cache it', () => {
  const json = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

  test.each([
    ['JSON', answer(201, shaped(Thing, { id: 'a', parts: [] })), 201, json],
    ['JSON with headers', answer(200, shaped(Thing, { id: 'a', parts: [] }), { a: 'b' }), 200, { ...json, a: 'b' }],
    ['a refusal', refusalAnswer(new Refusal('unauthorized', 'Unauthorized')), 401, json],
    ['a failed login', refusalAnswer(new Refusal('invalid_credentials', 'x')), 401, { 'cache-control': 'no-store' }],
    [
      'text, which no browser takes for a page',
      plainText('<script>'),
      200,
      {
        'content-type': 'text/plain; charset=utf-8',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      },
    ],
    [
      'a redirect, which one reader may keep for five minutes',
      movedTo('https://shop.example/a'),
      302,
      { location: 'https://shop.example/a', 'cache-control': 'private, max-age=300' },
    ],
  ])('%s', (_, { statusCode, headers }, status, expected) => {
    expect([statusCode, headers]).toEqual([status, expected]);
  });

  test('the bodies of what has no JSON', () => {
    const bodies = [plainText('<script>'), movedTo('https://shop.example/a')].map(({ body }) => body);
    expect(bodies).toEqual(['<script>', '']);
    expect(refusalAnswer(new Refusal('invalid_credentials', 'never shown')).body).toBe('');
  });
});
