import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { isPlainRecipient, maxValueLength, maxValues } from '../../../../lib/messages/request/plain-recipient.ts';
import { RecipientSchema } from '../../../../lib/messages/request/send-request.ts';

const to = '5491155550001';
const parsed = (text: string): unknown => JSON.parse(text);

test.each<[string, string]>([
  ['a number alone', `{"to":"+${to}"}`],
  ['a user id with no params', '{"to":"US.ENT.abc123","params":{}}'],
  ['all lists of values', `{"to":"${to}","params":{"header":["a"],"body":["b",""],"buttons":[]}}`],
])('%s is plain', (_, text) => {
  expect(isPlainRecipient(parsed(text))).toBe(true);
});

test.each<[string, string]>([
  ['an unknown field', `{"to":"${to}","name":"x"}`],
  ['an unknown list', `{"to":"${to}","params":{"footer":["x"]}}`],
  ['a forbidden key', `{"to":"${to}","__proto__":{}}`],
  ['products', `{"to":"${to}","params":{"products":[]}}`],
  ['another order', `{"params":{},"to":"${to}"}`],
  ['another order of lists', `{"to":"${to}","params":{"buttons":["a"],"body":["b"]}}`],
  ['another address', '{"to":"0123"}'],
  ['no address', '{}'],
  ['params that are null', `{"to":"${to}","params":null}`],
  ['params that are a list', `{"to":"${to}","params":[]}`],
  ['a number as a value', `{"to":"${to}","params":{"body":[1]}}`],
  ['a text as a list', `{"to":"${to}","params":{"body":"a"}}`],
  ['a list', '[]'],
  ['null', 'null'],
])('%s is left to the schema', (_, text) => {
  expect(isPlainRecipient(parsed(text))).toBe(false);
});

test('the longest value and the longest lists are plain, and one more is not', () => {
  for (const [field, most] of Object.entries(maxValues)) {
    const listOf = (count: number, length: number) => ({
      to,
      params: { [field]: Array(count).fill('x'.repeat(length)) },
    });
    expect(isPlainRecipient(listOf(most, maxValueLength))).toBe(true);
    expect(isPlainRecipient(listOf(most + 1, 1))).toBe(false);
    expect(isPlainRecipient(listOf(1, maxValueLength + 1))).toBe(false);
  }
});

test('the schema returns what is plain with the same JSON', () => {
  const strange = fc.constantFrom<unknown>(null, 1, '', 'x'.repeat(maxValueLength + 1), {}, []);
  const list = fc.oneof({ weight: 5, arbitrary: fc.array(fc.string(), { maxLength: 12 }) }, fc.array(strange), strange);
  const params = fc.record({ header: list, body: list, buttons: list, cards: list, other: list }, { requiredKeys: [] });
  const address = fc.oneof(fc.constantFrom(to, `+${to}`, 'BR.a1'), strange);
  const recipient = fc.record({ to: address, params: fc.oneof(params, strange) }, { requiredKeys: ['to'] });
  let plain = 0;
  fc.assert(
    fc.property(recipient, (given) => {
      const json = JSON.stringify(given);
      if (!isPlainRecipient(parsed(json))) return;
      plain += 1;
      expect(JSON.stringify(v.parse(RecipientSchema, parsed(json)))).toBe(json);
    }),
    { numRuns: 1_000 },
  );
  expect(plain).toBeGreaterThan(20);
});
