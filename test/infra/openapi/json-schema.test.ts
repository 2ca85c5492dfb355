import { Ajv2020 } from 'ajv/dist/2020.js';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { described } from '../../../infra/openapi/field-descriptions.ts';
import { jsonSchemas } from '../../../infra/openapi/json-schema.ts';
import { ClientIdJson, ClientIdText } from '../../../lib/access/operating-client.ts';
import { boundedList, closedObject, openObject } from '../../../lib/http/closed-object.ts';
import { alwaysNull, anyLetterCase, documentedAs, inAnyLetterCase } from '../../../lib/http/documented.ts';
import { countTo, flag, listFilter, listOfWords, moment, textFilter } from '../../../lib/http/query.ts';
import { MessagesSendBody } from '../../../lib/messages/request/send-request.ts';

const request = jsonSchemas({}, 'request');
const answer = jsonSchemas({}, 'answer');
const wholeNumber = { type: 'integer', minimum: 1 };

test.each<[string, v.GenericSchema, unknown]>([
  ['a filter of text', textFilter, { type: 'string', minLength: 1 }],
  ['a list parted by commas', listFilter, { type: 'array', items: { type: 'string', minLength: 1 } }],
  ['a flag', flag('active'), { type: 'boolean' }],
  ['a count', countTo('limit', 100), { ...wholeNumber, maximum: 100 }],
  ['a moment', moment('from'), { type: 'string', format: 'date-time' }],
  ['client_id of a query', ClientIdText, { ...wholeNumber, maximum: Number.MAX_SAFE_INTEGER }],
  ['client_id of a body', ClientIdJson, { ...wholeNumber, maximum: Number.MAX_SAFE_INTEGER }],
  ['an open object', openObject, { type: 'object', additionalProperties: true }],
  [
    'a bounded list that must not be empty',
    v.pipe(boundedList(v.string(), 3), v.minLength(1, 'must not be empty')),
    { type: 'array', items: { type: 'string' }, maxItems: 3, minItems: 1 },
  ],
  [
    'a check that is code',
    v.pipe(
      v.string(),
      v.check(() => true),
      v.minLength(2),
    ),
    { type: 'string', minLength: 2 },
  ],
  ['what may be null', v.nullable(v.string()), { type: ['string', 'null'] }],
  ['a list that may be null', v.nullable(v.array(v.string())), { type: ['array', 'null'], items: { type: 'string' } }],
  ['only null', alwaysNull(() => v.array(v.string())), { type: ['array', 'null'], items: { type: 'string' } }],
  [
    'words in any letter case',
    inAnyLetterCase(['A', 'B']),
    { enum: ['A', 'B'], type: 'string', [anyLetterCase]: true },
  ],
  ['a list of words', listOfWords(v.picklist(['A'])), { type: 'array', items: { enum: ['A'], type: 'string' } }],
  ['what comes before a transformation', v.pipe(v.string(), v.transform(Number), v.minValue(3)), { type: 'string' }],
])('%s', (_, schema, told) => {
  expect(request.of(schema)).toEqual(told);
});

describe('objects', () => {
  const entries = { a: v.string(), b: v.optional(v.number()) };
  const told = {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'number' } },
    required: ['a'],
  };

  test('what a request may carry beside is said by its schema; answers are open to later fields', () => {
    expect(request.of(v.object(entries))).toEqual(told);
    expect(request.of(closedObject(entries))).toEqual({ ...told, additionalProperties: false });
    for (const schema of [v.object(entries), v.strictObject(entries)]) expect(answer.of(schema)).toEqual(told);
  });

  test('also within others, and behind a transformation', () => {
    const piped = v.pipe(
      closedObject(entries),
      v.transform(({ a }) => a),
    );
    const closed = { ...told, additionalProperties: false };
    expect(request.of(v.object({ list: v.optional(boundedList(piped, 5)) }))).toEqual({
      type: 'object',
      properties: { list: { type: 'array', items: closed, maxItems: 5 } },
    });
  });
});

test('a schema with a name is written once, and all its uses refer to it', () => {
  const Part = v.object({ name: v.string() });
  const schemas = jsonSchemas({ Part }, 'answer');
  expect(schemas.of(v.object({ parts: v.array(Part) }))).toMatchObject({
    properties: { parts: { items: { $ref: '#/components/schemas/Part' } } },
  });
  expect(schemas.components()).toEqual({
    Part: {
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
    },
  });
});

test('a schema that cannot be described stops the run', () => {
  expect(() => request.of(v.custom(() => true))).toThrow(/custom/);
  expect(
    request.of(
      v.pipe(
        v.custom(() => true),
        documentedAs(() => v.string()),
      ),
    ),
  ).toEqual({ type: 'string' });
});

describe('the body of a send', () => {
  const validate = new Ajv2020({ strict: false }).compile(request.of(MessagesSendBody));
  const body = {
    did: '1',
    type: 'template',
    channel: 'MESSAGING',
    template: { name: 'a', language: 'en' },
    recipients: [{ to: '5491155550001' }],
  };
  const location = { latitude: '1', longitude: '2', name: 'a', address: 'b' };

  test.each<[string, object, boolean]>([
    ['the least', {}, true],
    ['a location', { component: { header: { type: 'location', location } } }, true],
    ['an image', { component: { header: { type: 'image_url', value: 'https://example.com/a.png' } } }, true],
    ['a user id of a business', { recipients: [{ to: 'AR.123' }] }, true],
    ['no recipient', { recipients: [] }, false],
    ['a recipient that is no number', { recipients: [{ to: 'Ana' }] }, false],
    ['an unknown field', { campaign_id: 5 }, false],
    ['an unknown field of a recipient', { recipients: [{ to: '5491155550001', name: 'Ana' }] }, false],
    ['a header that is neither', { component: { header: { type: 'image_url', location } } }, false],
  ])('%s', (_, more, taken) => {
    expect(validate({ ...body, ...more })).toBe(taken);
  });
});

test('all fields without a description are named in one error, with the file that is to have it', () => {
  const data = { properties: { foo_1: {}, bar_1: {}, name: {} } };
  const schemas = { RenamedEvent: { properties: { data } }, Other: { properties: { foo_2: {} } } };
  expect(() => described(schemas, (name) => (name === 'RenamedEvent' ? 'event' : name))).toThrow(
    /^infra\/openapi\/field-texts\.json .*: foo_1 of RenamedEvent \(as data\.foo_1, RenamedEvent\.foo_1, foo_1\); bar_1 of .*; foo_2 of Other /,
  );
});
