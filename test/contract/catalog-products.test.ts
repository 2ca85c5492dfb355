import { afterEach, describe, expect, test } from 'vitest';
import { type ApiReply, api, platform, tokenOf } from '../support/api.ts';

const did = '5491100000001';
const catalogId = '600000000000001';

afterEach(async () => {
  await platform('DELETE /_control/faults');
});

async function products(query: Readonly<Record<string, string>> = {}, ofDid = did): Promise<ApiReply> {
  const text = new URLSearchParams({ catalog_id: catalogId, ...query });
  return api(`GET /v1/catalogs/${ofDid}/products?${text}`, { token: await tokenOf('supervisor1001') });
}

const idsOf = ({ body }: ApiReply): string[] => body.data.map(({ id }: { id: string }) => id);
const refusal = ({ status, body }: ApiReply) => [status, body.code, body.message];

describe('pages (D31)', () => {
  test('25 products unless asked, as the contract shows them', async () => {
    const { status, body } = await products();
    expect([status, Object.keys(body).sort(), body.data.length]).toEqual([200, ['data', 'paging'], 25]);
    expect(body.paging).toEqual({ cursors: { before: expect.any(String), after: expect.any(String) } });
    expect(body.data[2]).toEqual({
      id: '7000000001000003',
      name: 'Two-person tent 3',
      retailer_id: 'sku-3',
      image_urls: [
        'https://images.example.com/600000000000001/sku-3-front.jpg',
        'https://images.example.com/600000000000001/sku-3-back.jpg',
      ],
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

  test('prices are decimal text or left out; images are a list, an empty one when there are none (D31)', async () => {
    const { body } = await products({ limit: '100' });
    const prices: string[] = body.data.map(({ price }: { price?: string }) => price).filter(Boolean);
    expect(prices.length).toBeGreaterThan(80);
    expect(prices.filter((price) => !/^\d+(?:\.\d{2,3})?$/.test(price))).toEqual([]);
    expect(prices.length).toBeLessThan(body.data.length);
    const images = body.data.map(({ image_urls }: { image_urls?: unknown }) => image_urls);
    expect(images.filter((urls: unknown) => !Array.isArray(urls))).toEqual([]);
    expect(images).toContainEqual([]);
  });
});

describe('refusals', () => {
  test.each([
    [{ catalog_id: '' }, 'invalid_request', 'catalog_id is required'],
    [{ client_id: 'abc' }, 'invalid_client_id', 'invalid client_id: abc'],
    [{ limit: '0' }, 'invalid_request', 'limit must be a whole number from 1 to 100, received "0"'],
    [{ limit: '101' }, 'invalid_request', 'limit must be a whole number from 1 to 100, received "101"'],
    [{ limit: '1.5' }, 'invalid_request', 'limit must be a whole number from 1 to 100, received "1.5"'],
    [{ cursor: 'a b' }, 'invalid_request', 'cursor is not one of a page'],
    [{ cursor: 'before:' }, 'invalid_request', 'cursor is not one of a page'],
    [{ cursor: 'x'.repeat(1_001) }, 'invalid_request', 'cursor is not one of a page'],
    [{ cursor: 'nonsense' }, 'platform_refused', '(#100) Param after is not a valid cursor'],
    [{ cursor: 'before:nonsense' }, 'platform_refused', '(#100) Param before is not a valid cursor'],
  ])('%j: 400', async (query, code, message) => {
    expect(refusal(await products(query))).toEqual([400, code, message]);
  });

  test('without catalog_id: 400', async () => {
    const reply = await api(`GET /v1/catalogs/${did}/products`, { token: await tokenOf('supervisor1001') });
    expect(refusal(reply)).toEqual([400, 'invalid_request', 'catalog_id is required']);
  });

  test('no token: 401', async () => {
    expect((await api(`GET /v1/catalogs/${did}/products?catalog_id=${catalogId}`)).status).toBe(401);
  });

  test('a DID outside, and another client: 403', async () => {
    const outside = [403, 'did_forbidden', 'the did is outside the WABA hierarchy of the client'];
    expect(refusal(await products({}, '5511900000003'))).toEqual(outside);
    expect(refusal(await products({}, '5499999999999'))).toEqual(outside);
    expect(refusal(await products({ client_id: '1002' }))).toEqual([
      403,
      'cross_client_forbidden',
      'BSP_CN permission required for cross-client access',
    ]);
  });

  test.each(['600000000000002', '600000000000999', 'x', '../200000000000001', '600000000000001,600000000000001'])(
    'the catalog %s is not of the WABA: 403',
    async (id) => {
      const message = 'the catalog is not linked to the WABA of the did';
      expect(refusal(await products({ catalog_id: id }))).toEqual([403, 'catalog_forbidden', message]);
    },
  );

  test.each([[{ status: 503 }], [{ status: 401, code: 190 }], [{ status: 200, html: true }], [{ drop: 'before' }]])(
    'the platform fails with %j: 502',
    async (action) => {
      await platform('POST /_control/faults', { match: { path: '/products' }, action });
      expect(refusal(await products())).toEqual([502, 'platform_unreachable', 'the platform could not be reached']);
    },
  );

  test('the platform limits the rate: 429', async () => {
    await platform('POST /_control/faults', { match: { path: '/products' }, action: { code: 80008 } });
    expect((await products()).status).toBe(429);
  });
});
