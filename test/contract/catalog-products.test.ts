import { describe, expect, test } from 'vitest';
import { type ApiReply, platform } from '../support/api.ts';
import { rows } from '../support/rows.ts';
import { asSupervisor, orderDid as did } from '../support/sends.ts';

/*
 * Prices and products are in test/lib/catalog/, clients and DIDs in contract/tenancy/dids.ts, failures of the platform
 * in contract/platform-down.test.ts.
 */

const catalogId = '600000000000001';
const products = (query: Readonly<Record<string, string>> = {}) =>
  asSupervisor(`GET /v1/catalogs/${did}/products?${new URLSearchParams({ catalog_id: catalogId, ...query })}`);
const idsOf = ({ body }: ApiReply): string[] => body.data.map(({ id }: { id: string }) => id);
const refusal = ({ status, body }: ApiReply) => [status, body.code, body.message];

describe('pages (D31)', () => {
  test('25 products unless asked, as the contract shows them', async () => {
    const { status, body } = await products();
    expect([status, Object.keys(body).sort(), body.data.length]).toEqual([200, ['data', 'paging'], 25]);
    expect(body.paging).toEqual({ cursors: { before: expect.any(String), after: expect.any(String) } });
    const images = 'https://images.example.com/600000000000001';
    expect(body.data[2]).toEqual({
      id: '7000000001000003',
      name: 'Two-person tent 3',
      retailer_id: 'sku-3',
      image_urls: [`${images}/sku-3-front.jpg`, `${images}/sku-3-back.jpg`],
      description: 'Two-person tent, number 3 of the catalog',
      currency: 'BRL',
      price: '1236.56',
      url: 'https://shop.example.com/products/sku-3',
      category: 'Outdoor > Tents',
      unique_id: '600000000000001:sku-3',
    });
    expect(body.data[6]).not.toHaveProperty('description');
  });

  test('walked to the end, where no cursor leads on; and all the way back', async () => {
    const { body } = await platform('GET /_control/catalogs');
    const { total } = body.data.find(({ id }: { id: string }) => id === catalogId);
    let page = await products({ limit: '100' });
    const forward = idsOf(page);
    while (page.body.paging.cursors.after !== undefined) {
      page = await products({ limit: '100', cursor: page.body.paging.cursors.after });
      forward.push(...idsOf(page));
    }
    expect([forward.length, new Set(forward).size]).toEqual([total, total]);

    const backward = idsOf(page);
    while (page.body.data.length > 0) {
      page = await products({ limit: '100', cursor: page.body.paging.cursors.before });
      backward.unshift(...idsOf(page));
    }
    expect(backward).toEqual(forward);
    expect(page.body).toEqual({ data: [], paging: { cursors: {} } });
  });
});

const notLinked = 'the catalog is not linked to the WABA of the did';
test.each(rows`
  catalog_id | | 400               | invalid_request   | catalog_id is required
  limit      | 101 | 400           | invalid_request   | limit must be a whole number from 1 to 100, received "101"
  cursor     | before: | 400       | invalid_request   | cursor is not one of a page
  cursor     | nonsense | 400      | platform_refused  | (#100) Param after is not a valid cursor
  catalog_id | ../200000000000001 | 403 | catalog_forbidden | ${notLinked}
  catalog_id | 600000000000001,600000000000001 | 403 | catalog_forbidden | ${notLinked}
`)('%s=%s: %s %s', async (name, value, status, code, message) => {
  expect(refusal(await products({ [name]: value }))).toEqual([Number(status), code, message]);
});
