import { expect, test } from 'vitest';
import type { Waba } from '../../../lib/access/directory.ts';
import { type CatalogPorts, listProducts } from '../../../lib/catalog/list-products.ts';
import { Refusal } from '../../../lib/http/refusal.ts';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import { makeWaba } from '../../support/directory.ts';

const waba: Waba = makeWaba({ wabaId: '200', credential: 'main', clientIds: [1001] });

async function refusalOf(ports: Partial<CatalogPorts>, catalogId = '600'): Promise<Refusal> {
  const linked: CatalogPorts = { catalogIdOf: async () => '600', productPageOf: async () => ({ products: [] }) };
  const asked = { catalogId, position: undefined, limit: 25 };
  const error = await listProducts({ ...linked, ...ports }, waba, asked).catch((reason: unknown) => reason);
  if (error instanceof Refusal) return error;
  throw new Error(`no refusal but ${JSON.stringify(error)}`);
}

const failing = (failure: PlatformFailure) => async () => {
  throw failure;
};

test.each([
  ['credentials that cannot be read', new PlatformFailure('not_sent')],
  ['no answer', new PlatformFailure('ambiguous')],
  ['our token refused', new PlatformFailure('refused', { httpStatus: 401, code: 190 })],
])('%s: 502, whichever of the two calls fails', async (_, failure) => {
  for (const ports of [{ catalogIdOf: failing(failure) }, { productPageOf: failing(failure) }]) {
    expect(await refusalOf(ports)).toMatchObject({ status: 502, code: 'platform_unreachable' });
  }
});

test('a WABA without catalog has none that could be asked for, and no product is read', async () => {
  const productPageOf = failing(new PlatformFailure('ambiguous'));
  const none = await refusalOf({ catalogIdOf: async () => undefined, productPageOf });
  const another = await refusalOf({ productPageOf }, '601');
  expect([none.code, another.code]).toEqual(['catalog_forbidden', 'catalog_forbidden']);
  expect(none.message).toBe(another.message);
});
