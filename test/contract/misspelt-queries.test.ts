import { expect, test } from 'vitest';
import { operations } from '../../infra/openapi/operations/all.ts';
import { routes } from '../../infra/routes.ts';
import { api, tokenOf } from '../support/api.ts';

// A parameter of a query that is nearly one of the route's is refused on every route: it would work for another client, or
// show everything (D16).

const misspelt = routes.flatMap(({ method, path, operation, public: isPublic }) => {
  const { query, body } = operations[operation] ?? {};
  const [first] = Object.keys(query?.entries ?? {}).toSorted((one, other) => other.length - one.length);
  return first === undefined || isPublic === true || body !== undefined
    ? []
    : [[operation, method, path, first] as const];
});

test.each(misspelt)('%s', async (_, method, path, parameter) => {
  const asked = `${method} ${path.replaceAll(/\{\w+\}/g, '5491100000001')}?${parameter}s=1`;
  const reply = await api(asked, { token: await tokenOf('supervisor1001') });
  expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  const message = `unrecognized field: ${parameter}s; did you mean ${parameter}?`;
  expect(reply.body.errors).toContainEqual({ path: `${parameter}s`, message });
});

test('there are such routes', () => {
  expect(misspelt.length).toBeGreaterThan(10);
});
