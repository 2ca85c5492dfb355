import { expect, test } from 'vitest';
import { platformCatalogs } from '../../../lib/catalog/platform-catalogs.ts';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import { scriptedPlatform } from '../../support/scripted-platform.ts';

const waba = { wabaId: '200000000000001', credential: 'main' };

function setup(...replies: Parameters<typeof scriptedPlatform>) {
  const { clock, calls, transport, credentialOf, nowMs } = scriptedPlatform(...replies);
  return { clock, calls, catalogIdOf: platformCatalogs(transport, credentialOf, nowMs) };
}

test('asks for the catalogs of the WABA and keeps the answer 5 minutes', async () => {
  const { clock, calls, catalogIdOf } = setup({ data: [{ id: '700', name: 'Shop' }] }, { data: [{ id: '701' }] });
  expect(await catalogIdOf(waba)).toBe('700');
  clock.nowMs += 299_999;
  expect(await catalogIdOf(waba)).toBe('700');
  expect(calls).toEqual([
    {
      method: 'GET',
      path: '200000000000001/product_catalogs',
      query: { fields: 'id,name' },
      accessToken: 'token of main',
      wabaId: '200000000000001',
    },
  ]);
  clock.nowMs += 1;
  expect(await catalogIdOf(waba)).toBe('701');
});

test('what is kept is not used for a fresh answer, which is kept in its place', async () => {
  const { calls, catalogIdOf } = setup({ data: [] }, { data: [{ id: '701' }] });
  expect([await catalogIdOf(waba), await catalogIdOf(waba)]).toEqual([undefined, undefined]);
  expect(await catalogIdOf(waba, { fresh: true })).toBe('701');
  expect(await catalogIdOf(waba)).toBe('701');
  expect(calls).toHaveLength(2);
});

test('a WABA without catalog has none', async () => {
  const { catalogIdOf } = setup({ data: [] });
  expect(await catalogIdOf(waba)).toBeUndefined();
});

test('a failure is passed on and not kept', async () => {
  const { catalogIdOf } = setup(new PlatformFailure('not_sent'), { unexpected: true }, { data: [{ id: '700' }] });
  await expect(catalogIdOf(waba)).rejects.toMatchObject({ kind: 'not_sent' });
  await expect(catalogIdOf(waba)).rejects.toMatchObject({ kind: 'ambiguous' });
  expect(await catalogIdOf(waba)).toBe('700');
});
