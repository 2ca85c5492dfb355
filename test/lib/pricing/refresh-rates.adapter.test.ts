import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { fetchPublic } from '../../../lib/http/fetch-network.ts';
import { currentRates, knownRates } from '../../../lib/pricing/current-rates.ts';
import { shippedRates } from '../../../lib/pricing/rates.ts';
import { ratesOfDay } from '../../../lib/pricing/rates-of-day.ts';
import { type RatesStore, ratesStore } from '../../../lib/pricing/rates-store.ts';
import { refreshRates } from '../../../lib/pricing/refresh-rates.ts';
import { certificate, type MediaHost, startMediaHost } from '../../support/media-host.ts';
import { makeRates } from '../../support/rates.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

const client = localDocumentClient();
let tableName: string;
let store: RatesStore;
let source: MediaHost | undefined;
const logged: string[] = [];

beforeAll(() => {
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => logged.push(String(text)) > 0);
});
beforeEach(async () => {
  tableName = await freshTable('rates');
  store = ratesStore(client, tableName);
  logged.length = 0;
});
afterEach(async () => {
  await source?.close();
  source = undefined;
});

/** Runs once on 2027-02-01 against a source with this body. */
async function refreshFrom(body: unknown, status = 200, url = 'https://media.example.com/rates.json') {
  source = await startMediaHost((_, response) => {
    response.statusCode = status;
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  const { port } = source;
  const ports = {
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
    isAllowedAddress: (address: string) => address === '127.0.0.1',
    port,
    ca: certificate,
  };
  const fetchFile = async () =>
    (await fetchPublic(url, { path: 'RATE_SOURCE_URL', maxBytes: 50_000, totalMs: 10_000, ports })).bytes;
  try {
    return await refreshRates({
      fetchFile,
      store,
      shipped: shippedRates,
      nowMs: () => Date.parse('2027-02-01T00:00Z'),
    });
  } finally {
    await source.close();
    source = undefined;
  }
}

const january = makeRates('2027-01-01', { Brazil: { marketing: 0.07 } });
const corrected = makeRates('2027-01-01', { Brazil: { marketing: 0.08 } });

describe('a good file', () => {
  test('replaces what is stored, is read back, and is what clients are told', async () => {
    expect(await refreshFrom(january)).toBe('replaced');
    expect(await store.find()).toEqual([january]);
    expect(await currentRates(store.find, shippedRates, () => Date.parse('2027-02-01T00:00Z'))()).toEqual(january);
    expect(await refreshFrom(corrected)).toBe('replaced');
    expect(await store.find()).toEqual([corrected]);
    expect(logged.join('')).toContain('"event":"pricing.refreshed"');
  });

  test('of a day to come is kept, and counts from that day on; what counted before is kept too', async () => {
    await refreshFrom(january);
    const next = makeRates('2027-02-02');
    expect(await refreshFrom(next)).toBe('not_yet_in_force');
    expect(await store.find()).toEqual([january, next]);
    const known = await knownRates(store.find, shippedRates, Date.now)();
    expect(['2026-12-31', '2027-02-01', '2027-02-02'].map((day) => ratesOfDay(day, known))).toEqual([
      shippedRates,
      january,
      next,
    ]);
  });
});

describe('a bad file leaves the last good rates, says so and throws', () => {
  const good = JSON.stringify(january);
  test.each<[string, unknown, number, string, RegExp]>([
    ['an error', 'no', 500, 'not_fetched', /status 200 and no redirect, not with 500/],
    ['too many bytes', ' '.repeat(50_001), 200, 'not_fetched', /at most 50000 bytes/],
    ['a page', '<html>', 200, 'malformed', /not JSON/],
    ['another document', { rates: [] }, 200, 'malformed', /currency is required/],
    ['one bad amount', good.replace('0.0732', '-0.0732'), 200, 'malformed', /markets\[1\]\.marketing/],
    ['a slipped point', makeRates('2027-01-02', { Brazil: { marketing: 0.7 } }), 200, 'implausible', /marketing in BR/],
  ])('%s', async (_, body, status, code, message) => {
    await refreshFrom(january);
    logged.length = 0;
    await expect(refreshFrom(body, status)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expect(await store.find()).toEqual([january]);
    expect(logged.map((line) => JSON.parse(line))).toEqual([
      { event: 'pricing.refresh_failed', at: expect.any(String), code, error: expect.stringMatching(message) },
    ]);
  });

  test('an address that is not public is not asked', async () => {
    const refused = refreshFrom(january, 200, 'https://10.0.0.1/rates.json');
    await expect(refused).rejects.toMatchObject({ code: 'not_fetched' });
    expect(await store.find()).toEqual([]);
  });
});

describe('the store', () => {
  test('keeps one of each date, also of concurrent writers, and no more than twelve', async () => {
    const dates = Array.from({ length: 13 }, (_, at) => `2027-02-${String(at + 1).padStart(2, '0')}`);
    await Promise.all([january, corrected].map((rates) => store.keepOfDate(rates)));
    expect((await store.find()).map(({ effective }) => effective)).toEqual(['2027-01-01']);
    for (const date of dates.toReversed()) await store.keepOfDate(makeRates(date));
    expect((await store.find()).map(({ effective }) => effective)).toEqual(dates.slice(1));
  });

  test('what is no rate file is not read, and the shipped rates hold', async () => {
    await client.send(
      new PutCommand({ TableName: tableName, Item: { pk: 'RATES', effective: '2027-01-01', rates: {} } }),
    );
    await expect(store.find()).rejects.toThrow();
    expect(await currentRates(store.find, shippedRates, Date.now)()).toBe(shippedRates);
  });

  test('a table that is not there: the shipped rates hold', async () => {
    const nowhere = ratesStore(client, 'no-such-table');
    expect(await currentRates(nowhere.find, shippedRates, Date.now)()).toBe(shippedRates);
  });
});
