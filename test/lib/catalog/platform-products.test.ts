import { expect, test } from 'vitest';
import { platformProducts } from '../../../lib/catalog/platform-products.ts';
import type { PlatformCall } from '../../../lib/platform/transport.ts';

const catalog = { catalogId: '600', credential: 'main' };

function setup(reply: Record<string, unknown>) {
  const calls: PlatformCall[] = [];
  const pageOf = platformProducts(
    async (call) => {
      calls.push(call);
      return { body: reply };
    },
    async (name) => ({ accessToken: `token of ${name}`, appId: '1' }),
  );
  return { calls, pageOf };
}

const cursors = { before: 'first', after: 'last' };

test.each([
  [{ after: 'x' }, { after: 'x' }],
  [{ before: 'x' }, { before: 'x' }],
  [undefined, {}],
] as const)('from %j', async (position, asked) => {
  const { calls, pageOf } = setup({
    data: [{ id: '1' }, { name: 'without id' }],
    paging: { cursors, next: 'https://x' },
  });
  expect(await pageOf(catalog, { limit: 10, position })).toMatchObject({ products: [{ id: '1' }], ...cursors });
  expect(calls).toEqual([
    {
      method: 'GET',
      path: '600/products',
      query: { fields: expect.stringContaining('retailer_id'), limit: '10', ...asked },
      accessToken: 'token of main',
    },
  ]);
});

test('the last page has no cursor that leads on, an empty one none at all', async () => {
  const last = await setup({ data: [{ id: '1' }], paging: { cursors } }).pageOf(catalog, { limit: 10 });
  expect(last).toEqual({ products: [expect.objectContaining({ id: '1' })], before: 'first' });
  expect(await setup({ data: [] }).pageOf(catalog, { limit: 10 })).toEqual({ products: [] });
});

test.each([
  {},
  { data: 'none' },
  { data: [], paging: { cursors: { after: 'a b' } } },
  { data: [], paging: { cursors: { after: 'before:x' } } },
  { data: [], paging: { cursors: { before: 'x'.repeat(1_001) } } },
])('%j is no page', async (reply) => {
  await expect(setup(reply).pageOf(catalog, { limit: 10 })).rejects.toMatchObject({ kind: 'ambiguous' });
});
