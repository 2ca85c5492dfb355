import { expect, test } from 'vitest';
import { simulatorAtRest, simulatorOfFile } from './support/simulator.ts';

const catalogId = '600000000000001';
const simulator = simulatorOfFile();

const page = (query: Record<string, string>) => simulator.get(`${catalogId}/products`, query);

test('the control route tells every catalog and its size', async () => {
  const { body } = await simulator.control('GET', 'catalogs');
  expect(body).toEqual({
    data: [
      { id: catalogId, waba_id: '200000000000001', name: 'Andes spring catalog', total: 420 },
      { id: '600000000000002', waba_id: '200000000000002', name: 'Boreal travel shop', total: 230 },
    ],
  });
});

test('pages forwards and backwards contain every product once', async () => {
  const seen: string[] = [];
  let query: Record<string, string> = { limit: '100' };
  let last = await page(query);
  for (;;) {
    seen.push(...last.body.data.map(({ id }: { id: string }) => id));
    if (last.body.paging.next === undefined) break;
    query = { limit: '100', after: last.body.paging.cursors.after };
    last = await page(query);
  }
  expect([seen.length, new Set(seen).size]).toEqual([420, 420]);
  const back = await page({ limit: '100', before: last.body.paging.cursors.before });
  expect(back.body.data.map(({ id }: { id: string }) => id)).toEqual(seen.slice(300, 400));
  expect(back.body.paging.next).toBeDefined();
});

test('prices of several currencies, gaps, and the same again at the next start', async () => {
  const fields = 'id,retailer_id,price,currency,url,image_url,category,description';
  const { body } = await page({ limit: '1000', fields });
  expect(new Set(body.data.map(({ currency }: { currency?: string }) => currency)).size).toBe(11);
  for (const field of fields.split(',').slice(1)) {
    const without = body.data.filter((product: Record<string, unknown>) => !product[field]).length;
    expect([field, without > 0 && without < 100]).toEqual([field, true]);
  }
  const again = await simulatorAtRest();
  expect((await again.get(`${catalogId}/products`, { limit: '1000', fields })).body.data).toEqual(body.data);
  await again.stop();
});

test('refuses what the platform refuses', async () => {
  expect((await page({ after: 'nonsense' })).body.error).toMatchObject({ code: 100 });
  expect((await page({ fields: 'unique_id' })).body.error).toMatchObject({ code: 100 });
  expect((await simulator.get('600000000000009/products')).body.error).toMatchObject({ code: 100, error_subcode: 33 });
  const foreign = await simulator.call('GET', `/v25.0/${catalogId}/products`, undefined, 'second-waba-platform-token');
  expect([foreign.status, foreign.body.error.code]).toEqual([403, 200]);
  expect((await simulator.get(catalogId)).body).toEqual({ id: catalogId, name: 'Andes spring catalog' });
});
