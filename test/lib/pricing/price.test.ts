import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../lib/http/refusal.ts';
import { knownCountries } from '../../../lib/pricing/country.ts';
import { type Category, categoryOf, priceOf } from '../../../lib/pricing/price.ts';
import { shippedRates } from '../../../lib/pricing/rates.ts';

const listed = 'list rate for each delivered message, effective 2026-10-01';

describe('prices of the shipped rates', () => {
  test.each<[string, Category, number, string | undefined]>([
    ['AR', 'Marketing', 0.0618, undefined],
    ['ar', 'Utility', 0.026, undefined],
    ['bR', 'Authentication', 0.0068, undefined],
    ['GB', 'Marketing', 0.0635, undefined],
    ['US', 'Marketing', 0.025, 'North America'],
    ['CA', 'Utility', 0.0034, 'North America'],
    ['KE', 'Marketing', 0.0225, 'Rest of Africa'],
    ['NA', 'Marketing', 0.0225, 'Rest of Africa'],
    ['JP', 'Utility', 0.0113, 'Rest of Asia Pacific'],
    ['CH', 'Marketing', 0.0592, 'Rest of Western Europe'],
    ['UY', 'Marketing', 0.074, 'Rest of Latin America'],
    ['JO', 'Marketing', 0.0392, 'Rest of Middle East'],
    ['CZ', 'Marketing', 0.086, 'Rest of Central & Eastern Europe'],
    ['AQ', 'Marketing', 0.0604, 'Other'],
    ['CU', 'Utility', 0.0077, 'Other'],
    ['XK', 'Utility', 0.0077, 'Other'],
  ])('%s, %s: %d', (country, category, amount, group) => {
    const market = country.toUpperCase();
    expect(priceOf(shippedRates, country, category)).toEqual({
      market,
      currency: 'USD',
      category,
      rate: { amount, currency: 'USD' },
      source: shippedRates.source,
      note: group === undefined ? listed : `${market} is priced in the group ${group}; ${listed}`,
    });
  });

  test('every country of the world has one, and service is free in all', () => {
    for (const country of knownCountries) {
      expect(priceOf(shippedRates, country, 'Marketing').rate.amount).toBeGreaterThan(0);
      expect(priceOf(shippedRates, country, 'Service')).toMatchObject({
        market: country,
        rate: { amount: 0 },
        note: expect.stringMatching(/free/),
      });
    }
  });

  test.each(['XX', 'AC', 'Other', 'EU', 'UK', 'USA', 'A1', '54', 'Argentina', ' AR', 'ＡＲ', 'ßs', 'AR,AR'])(
    '%j is no market: 404',
    (country) => {
      expect(() => priceOf(shippedRates, country, 'Service')).toThrow(Refusal);
      expect(() => priceOf(shippedRates, country, 'Marketing')).toThrow('no rate for that market and category');
    },
  );
});

test.each([
  ['Marketing', 'Marketing'],
  ['marketing', 'Marketing'],
  ['UTILITY', 'Utility'],
  ['aUTHENTICATION', 'Authentication'],
  ['service', 'Service'],
  ['Services', undefined],
  ['', undefined],
  ['__proto__', undefined],
  ['authentication-international', undefined],
])('the category %j is %s', (text, category) => {
  expect(categoryOf(text)).toBe(category);
});
