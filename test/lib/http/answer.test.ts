import * as v from 'valibot';
import { expect, test } from 'vitest';
import { answer, refusalAnswer, shaped } from '../../../lib/http/answer.ts';
import { Refusal } from '../../../lib/http/refusal.ts';

const Thing = v.object({ id: v.string(), parts: v.array(v.object({ name: v.exactOptional(v.string()) })) });

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
