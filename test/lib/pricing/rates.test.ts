import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { knownCountries } from '../../../lib/pricing/country.ts';
import { type Rates, RatesSchema, replacementFault, shippedRates } from '../../../lib/pricing/rates.ts';
import { makeRates } from '../../support/rates.ts';

describe('the shipped rates', () => {
  test('have 47 markets of one date', () => {
    expect([shippedRates.markets.length, shippedRates.effective, shippedRates.default_market]).toEqual([
      47,
      '2026-10-01',
      'Other',
    ]);
  });

  test('know the 249 countries of ISO 3166-1 and Kosovo, each with a name', () => {
    const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
    expect(knownCountries.size).toBe(250);
    expect([...knownCountries].filter((code) => names.of(code) === undefined)).toEqual([]);
    for (const code of ['AC', 'EU', 'UK', 'SU', 'AN', 'ZZ', 'AA', 'QM', 'XX', 'UN']) {
      expect([code, knownCountries.has(code)]).toEqual([code, false]);
    }
  });
});

describe('a rate file as a whole', () => {
  const [first, ...others] = shippedRates.markets;
  test.each<[string, unknown]>([
    ['another currency', { ...shippedRates, currency: 'EUR' }],
    ['another unit', { ...shippedRates, unit: 'USD per conversation' }],
    ['no date', { ...shippedRates, effective: 'October' }],
    ['no source', { ...shippedRates, source: ' ' }],
    ['no markets', { ...shippedRates, markets: [] }],
    ['a market twice', { ...shippedRates, markets: [...shippedRates.markets, { ...first, country: 'AD' }] }],
    ['a country twice', { ...shippedRates, markets: [...shippedRates.markets, { ...first, market: 'Again' }] }],
    ['an unknown country', { ...shippedRates, markets: [{ ...first, country: 'XX' }, ...others] }],
    ['a country in small letters', { ...shippedRates, markets: [{ ...first, country: 'ar' }, ...others] }],
    ['neither country nor group', { ...shippedRates, markets: [{ ...first, country: undefined }, ...others] }],
    ['country and group', { ...shippedRates, markets: [{ ...first, countries: [] }, ...others] }],
    ['an unknown default', { ...shippedRates, default_market: 'Rest of Nowhere' }],
    ...[-0.01, 2.01, Number.NaN, Number.POSITIVE_INFINITY, '0.01', null, undefined].map((amount): [string, unknown] => [
      `the amount ${amount}`,
      { ...shippedRates, markets: [{ ...first, utility: amount }, ...others] },
    ]),
  ])('%s is refused', (_, rates) => {
    expect(v.safeParse(RatesSchema, shippedRates).success).toBe(true);
    expect(v.safeParse(RatesSchema, rates).success).toBe(false);
  });
});

describe('what may replace the rates in force', () => {
  const inForce = makeRates('2027-01-01');
  const inApril = (changes: Parameters<typeof makeRates>[1]) => makeRates('2027-04-01', changes);
  const without = (name: string): Rates => ({
    ...inForce,
    markets: inForce.markets.filter(({ market }) => market !== name),
  });
  /** Andorra moves from the other countries to Colombia's market. */
  const moved: Rates = {
    ...makeRates('2027-04-01'),
    markets: inForce.markets.map((market) =>
      market.market === 'Colombia'
        ? { ...market, country: undefined, countries: ['CO', 'AD'], utility: 0.0007 }
        : market,
    ),
  };

  test.each([
    ['the same again', makeRates('2027-01-01'), undefined],
    ['a later date', makeRates('2027-04-01'), undefined],
    ['nine times as much', inApril({ Brazil: { utility: 0.0612 } }), undefined],
    ['an older date', makeRates('2026-12-31'), 'are of 2026-12-31, older than 2027-01-01'],
    ['a market less', without('Brazil'), 'lack the market Brazil'],
    ['ten times', inApril({ Brazil: { utility: 0.068 } }), 'change utility in BR from 0.0068 to 0.068'],
    ['the same in binary', inApril({ Hungary: { utility: 0.35 } }), 'change utility in HU from 0.035 to 0.35'],
    ['a tenth', inApril({ Brazil: { marketing: 0.00625 } }), 'change marketing in BR from 0.0625 to 0.00625'],
    ['nothing', inApril({ Brazil: { marketing: 0 } }), 'change marketing in BR from 0.0625 to 0'],
    ['a country in another market, at a jump', moved, 'change utility in AD from 0.0077 to 0.0007'],
    ['a jump of the default market', inApril({ Other: { utility: 0.1 } }), 'change utility in AD from 0.0077 to 0.1'],
  ] as const)('%s', (_, next, fault) => {
    expect(replacementFault(inForce, next)).toBe(fault);
  });
});
