import * as v from 'valibot';
import { expect, test } from 'vitest';
import { type NamedReads, refuseUnknownQuery } from '../../../lib/http/query-names.ts';
import { Refusal } from '../../../lib/http/refusal.ts';
import { makeHttpEvent } from '../../support/http-event.ts';

const text = v.optional(v.string());
const templates = v.object({ state: text, search: text, lang: text, campaign_name: text, size: text, limit: text });
const dispatches = v.object({ client_id: text, from: text, to: text, limit: text, cursor: text });
const channels = v.object({ wa_id: text, page: text });
const products = v.object({ catalog_id: v.string(), cursor: text });

function faultsOf(reads: NamedReads, query: Readonly<Record<string, string>>) {
  try {
    refuseUnknownQuery(makeHttpEvent({ query }), reads);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect([error.status, error.message]).toEqual([400, error.details.errors?.[0]?.message]);
    return error.details.errors ?? [];
  }
  return [];
}
const meantBy = (query: NonNullable<NamedReads['query']>, name: string) =>
  /did you mean (\w+)\? Known parameters: /.exec(faultsOf({ query }, { [name]: '1' })[0]?.message ?? '')?.[1];

test.each(['campain_name', 'campaignName', 'CAMPAIGN_NAME', 'campaign_id', 'campaign'])(
  'a parameter %s is refused, and which is meant is told (D16)',
  (name) => {
    expect(meantBy(templates, name)).toBe('campaign_name');
  },
);

test.each([
  [templates, 'status', 'state'],
  [templates, 'language', 'lang'],
  [templates, 'q', 'search'],
  [templates, 'pageSize', 'size'],
  [templates, 'per_page', 'size'],
  [channels, 'did', 'wa_id'],
  [channels, 'cursor', 'page'],
  [channels, 'after', 'page'],
  [products, 'after', 'cursor'],
  [dispatches, 'after', 'cursor'],
  [dispatches, 'since', 'from'],
  [dispatches, 'page', 'cursor'],
  [dispatches, 'status', undefined],
  [dispatches, 'x', undefined],
  [dispatches, 'constructor', undefined],
])('of %# %s means %s', (query, name, meant) => {
  expect(meantBy(query, name)).toBe(meant);
});

test('what exists is told, with the other faults of the query', () => {
  expect(faultsOf({ query: products }, { limit: '1', colour: 'red' })).toEqual([
    {
      path: 'limit',
      message: 'unrecognized field: limit. Known parameters: catalog_id, cursor, client_id',
    },
    { path: 'colour', message: 'unrecognized field: colour. Known parameters: catalog_id, cursor, client_id' },
    { path: 'catalog_id', message: 'catalog_id is required' },
  ]);
});

test('a page without a schema knows client_id, and every page ignores names that begin with _', () => {
  expect(faultsOf({}, { client_id: '1', _: '1', _cb: '2', __proto__x: '3' })).toEqual([]);
  expect(faultsOf({}, { state: '1' })).toHaveLength(1);
});

test.each(['dry_run', 'dryRun', 'Dry-Run'])('%s in the query is told to be a header', (name) => {
  const headers = v.object({ 'Dry-Run': text });
  expect(faultsOf({ headers }, { [name]: 'true' })).toEqual([
    { path: name, message: `unrecognized field: ${name}; Dry-Run is a header. Known parameters: client_id` },
  ]);
});

test('a request cannot fill the answer', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`${'x'.repeat(500)}${index}`, '1']));
  const faults = faultsOf({ query: templates }, many);
  expect(faults).toHaveLength(20);
  expect(JSON.stringify(faults).length).toBeLessThan(10_000);
});
