import { describe, expect, test } from 'vitest';
import { type Document, operationsOf, refusalsOf, resolved, type Schema, searchTextOf } from '../console/openapi.ts';
import { choicesOf, fieldsOf, limitsOf, typeOf, valuesOf } from '../console/reference-types.ts';
import service from './support/service.json' with { type: 'json' };

const document = service.document as unknown as Document;
const found = new Map(operationsOf(document).map((operation) => [operation.operationId, operation]));

function operation(id: string) {
  const one = found.get(id);
  if (one === undefined) throw new Error(`there is no ${id}`);
  return one;
}

describe('the document', () => {
  test('every route and every event, each under an id of its own', () => {
    const { paths, webhooks = {} } = document;
    const all = [...Object.values(paths), ...Object.values(webhooks)].flatMap((item) => Object.keys(item));
    expect(found.size).toBe(all.length);
    expect(operation('message.failed')).toMatchObject({ kind: 'event', path: 'message.failed' });
    expect(operation('messages-send')).toMatchObject({ kind: 'route', method: 'POST' });
  });

  test('the refusals of an answer with cause and remedy', () => {
    const { responses = {} } = operation('messages-send');
    const codesOf = (status: string) =>
      refusalsOf(document, resolved(document, responses[status] ?? {})).map(({ code }) => code);
    expect(codesOf('404')).toEqual(['template_not_found']);
    expect(codesOf('422')).toEqual(
      expect.arrayContaining(['did_mismatch', 'template_not_sendable', 'idempotency_key_reused']),
    );
    expect(codesOf('401')).toEqual(['unauthorized']);
    expect(codesOf('431')).toEqual([]);
  });

  test('a route is found by a field deep inside its body, by a parameter, and by a code', () => {
    const matching = (word: string) =>
      [...found.values()].filter((one) => searchTextOf(document, one).includes(word)).map((one) => one.operationId);
    expect(matching('product_retailer_id')).toEqual(['messages-send']);
    expect(matching('webhook-secret-rotate')).toEqual(['webhook-config-put']);
    expect(matching('idempotency_key_reused')).toEqual(['messages-send', 'messages-retry']);
  });
});

describe('a schema in words', () => {
  const words = (schema: Schema) => typeOf(document, schema);

  test('types', () => {
    expect(words({ type: 'string' })).toBe('string');
    expect(words({ type: ['string', 'null'] })).toBe('string or null');
    expect(words({ items: { type: 'integer' } })).toBe('array of integer');
    expect(words({ const: 'template' })).toBe('"template"');
    expect(words({ enum: ['a', 'b'] })).toBe('"a" or "b"');
    expect(words({ anyOf: [{ type: 'string' }, { type: 'string' }, { type: 'object' }] })).toBe('string or object');
    expect(words({ allOf: [{ properties: {} }] })).toBe('object');
    expect(words({})).toBe('anything');
  });

  test('limits; the largest number of JavaScript is none', () => {
    const limits = (schema: Schema) => limitsOf(document, schema).join(', ');
    expect(limits({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })).toBe('at least 1');
    expect(limits({ minLength: 1, maxLength: 512 })).toBe('1 to 512 characters');
    expect(limits({ maxItems: 10, items: { maxLength: 4 } })).toBe('at most 10 entries, each at most 4 characters');
    expect(limits({ format: 'date-time', pattern: '\\S' })).toBe('date-time, not empty');
    expect(limits({ anyOf: [{ pattern: 'a' }, { pattern: 'b' }] })).toBe('a, b');
  });

  test('fields: of what a list holds, of all that hold together, and of each choice', () => {
    const names = (schema: Schema) => fieldsOf(document, schema).map(({ name }) => name);
    const a = { properties: { a: {} }, required: ['a'] };
    const b = { properties: { b: {} } };
    expect(fieldsOf(document, a)).toEqual([{ name: 'a', schema: {}, isRequired: true }]);
    expect(names({ items: { allOf: [a, b] } })).toEqual(['a', 'b']);
    expect(choicesOf(document, { items: { anyOf: [a, b] } })).toEqual([a, b]);
    expect(choicesOf(document, { anyOf: [{ type: 'string' }, { type: 'null' }] })).toEqual([]);
    expect(names({ $ref: '#/components/schemas/SendRequest' })).toContain('recipients');
  });

  test('values to choose from', () => {
    expect(valuesOf(document, { const: 'true', type: 'string' })).toEqual(['true']);
    expect(valuesOf(document, { type: 'boolean' })).toEqual(['true', 'false']);
    expect(valuesOf(document, { enum: [1, 2] })).toEqual(['1', '2']);
    expect(valuesOf(document, { type: 'string' })).toBeUndefined();
    expect(valuesOf(document, undefined)).toBeUndefined();
  });
});
