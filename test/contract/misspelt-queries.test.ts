import { describe, expect, test } from 'vitest';
import { operations } from '../../infra/openapi/operations/all.ts';
import { routes } from '../../infra/routes.ts';
import { api, tokenOf } from '../support/api.ts';
import { expectRefusal } from '../support/expected-refusal.ts';

// Every route with a token refuses unknown parameters and does nothing. A misspelt one would work for another client,
// list everything (D16), or send at once what is rehearsed (D51) or scheduled (D56).

const guarded = routes.flatMap(({ method, path, operation, public: isPublic }) => {
  if (isPublic === true) return [];
  const { query, headers } = operations[operation] ?? {};
  const known = Object.keys(query?.entries ?? {});
  const asked = `${method} ${path.replaceAll(/\{\w+\}/g, '5491100000001')}`;
  const reads = (name: string) => Object.hasOwn(headers?.entries ?? {}, name);
  return [{ operation, asked, known, rehearses: reads('Dry-Run'), waits: reads('Send-At') }];
});

describe.each(guarded)('$operation', ({ asked, known, rehearses, waits }) => {
  const ask = async (query: string, headers = {}) =>
    api(`${asked}${query}`, { token: await tokenOf('supervisor1001'), headers });

  test('a parameter that is nearly one of the route, and one that is like none', async () => {
    const [first = ''] = known.toSorted((one, other) => other.length - one.length);
    const reply = await ask(`?${first}s=1&colour=red&_=1`);
    expectRefusal(reply, 400, 'invalid_request');
    const [near, like] = reply.body.errors;
    expect(reply.body.message).toBe(near.message);
    expect(near.path).toBe(`${first}s`);
    expect(near.message).toMatch(`unrecognized field: ${first}s; did you mean ${first}? Known parameters: `);
    expect(like.path).toBe('colour');
    expect(like.message.replace('unrecognized field: colour. Known parameters: ', '').split(', ')).toEqual(known);
  });

  // client_id has a refusal of its own (D4).
  const exact = known.filter((name) => !['search', 'q', 'business_name', 'fields', 'client_id'].includes(name));
  test.skipIf(exact.length === 0)('a parameter without a value, but for a search and fields (D16, D8)', async () => {
    for (const name of exact) {
      const { status, body } = await ask(`?${name}=`);
      expect([status, body.errors]).toEqual([400, expect.arrayContaining([expect.objectContaining({ path: name })])]);
    }
  });

  test.skipIf(rehearses)('the wish for a rehearsal', async () => {
    const message = 'Dry-Run: this route cannot be rehearsed, only a send can; nothing was done';
    const { status, body } = await ask('', { 'Dry-Run': 'true' });
    expect([status, body]).toEqual([400, { code: 'invalid_request', message, errors: [{ path: 'dry-run', message }] }]);
  });

  test('a header that begins with Send-', async () => {
    const { status, body } = await ask('', { 'Send-Until': '2026-11-27T09:00:00Z' });
    expect([status, body.errors]).toEqual([400, [{ path: 'send-until', message: body.message }]]);
    expect(body.message).toMatch(waits ? /^unrecognized field: send-until$/ : /: this route has no time of its own, /);
  });
});

test('there are such routes, and all know client_id', () => {
  expect(guarded.length).toBeGreaterThan(16);
  expect(guarded.filter(({ known }) => !known.includes('client_id'))).toEqual([]);
});
