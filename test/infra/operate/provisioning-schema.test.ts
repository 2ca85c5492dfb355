import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import demo from '../../../infra/local/demo/provisioning.json' with { type: 'json' };
import { provisioningSchema } from '../../../infra/operate/tables/provisioning-schema.ts';

const schema = JSON.parse(provisioningSchema());

test('the JSON Schema that is checked in is the one of today (`infra/ops provision --schema` makes it)', () => {
  expect(readFileSync('infra/operate/tables/provisioning.schema.json', 'utf8')).toBe(provisioningSchema());
});

test('it closes every object, and knows what is required of each value', () => {
  const { properties } = schema;
  const lists = ['clients', 'wabas', 'channels', 'campaigns', 'users', 'platform_credentials', 'platform_apps'];
  expect(Object.keys(properties).toSorted()).toEqual(['$schema', 'opt_out_words', ...lists].toSorted());
  expect(schema.required).toEqual(lists.slice(0, 5));
  const objects = [schema, properties.opt_out_words, ...lists.map((list) => properties[list].items)];
  expect(objects.map((each) => each.additionalProperties)).toEqual(Array(9).fill(false));
  expect(properties.channels.items.properties.did).toEqual({ type: 'string', pattern: '^\\d{5,20}$' });
  expect(properties.clients.items.properties.client_id).toMatchObject({ type: 'integer', minimum: 1 });
});

test('the demo file names it', () => {
  const file = new URL(demo.$schema, new URL('../../../infra/local/demo/', import.meta.url));
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(schema);
});
