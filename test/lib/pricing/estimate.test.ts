import { expect, test } from 'vitest';
import { costEstimate, unratedWarning } from '../../../lib/pricing/estimate.ts';
import { shippedRates } from '../../../lib/pricing/rates.ts';

/** A user id shows only its country. */
const to = (...countries: readonly (string | undefined)[]) =>
  countries.map((country) => ({ digits: undefined, country }));
const times = (count: number, country: string | undefined) => to(...Array.from({ length: count }, () => country));

test('the cost is the sum of the list prices, by country and in all, without the noise of binary fractions (D51)', () => {
  // In floating point, 3 x 0.0618 is 0.18540000000000004, and 3 x 0.0125 + 0.1365 is 0.17400000000000002.
  const countries = [...times(3, 'AR'), ...times(3, 'CO'), ...to('DE', 'CA')];
  expect(costEstimate(shippedRates, 'MARKETING', countries)).toEqual({
    cost: { amount: 0.3844, currency: 'USD' },
    byMarket: [
      { market: 'AR', recipients: 3, amount: 0.1854 },
      { market: 'CA', recipients: 1, amount: 0.025 },
      { market: 'CO', recipients: 3, amount: 0.0375 },
      { market: 'DE', recipients: 1, amount: 0.1365 },
    ],
    notDelivered: [],
  });
});

test.each([
  ['MARKETING', 625],
  ['UTILITY', 68],
  ['authentication', 68],
])('10,000 messages of %s to Brazil cost %f', (category, amount) => {
  expect(costEstimate(shippedRates, category, times(10_000, 'BR')).cost.amount).toBe(amount);
});

test('a country without a market of its own has the price of its group, or of all others (D32)', () => {
  const { byMarket } = costEstimate(shippedRates, 'MARKETING', to('AQ', 'CA'));
  expect(byMarket).toEqual([
    { market: 'AQ', recipients: 1, amount: 0.0604 },
    { market: 'CA', recipients: 1, amount: 0.025 },
  ]);
});

test('a recipient of no country, or of one without a market, costs what others cost (D32)', () => {
  expect(costEstimate(shippedRates, 'UTILITY', to('BR', undefined, 'XK', 'ZZ'))).toEqual({
    cost: { amount: 0.0299, currency: 'USD' },
    byMarket: [
      { market: 'BR', recipients: 1, amount: 0.0068 },
      { market: 'Other', recipients: 2, amount: 0.0154 },
      { market: 'XK', recipients: 1, amount: 0.0077 },
    ],
    notDelivered: [],
  });
});

test.each([
  ['Marketing', 0.0618, [{ market: 'US', recipients: 2 }]],
  ['UTILITY', 0.0328, []],
])(
  'what the platform does not deliver costs nothing and is priced apart: %s (D51)',
  (category, amount, notDelivered) => {
    const estimate = costEstimate(shippedRates, category, to('US', 'AR', 'US'));
    expect(estimate).toMatchObject({ cost: { amount }, notDelivered });
    expect(estimate.byMarket.map(({ market }) => market)).toEqual(notDelivered.length === 0 ? ['AR', 'US'] : ['AR']);
  },
);

test('numbers of area code 555, which no person has, are priced as before and are not among what is not delivered (D26)', () => {
  const of = (...numbers: readonly string[]) => numbers.map((digits) => ({ digits, country: 'US' }));
  const [delivered] = costEstimate(shippedRates, 'MARKETING', of('15550131026')).byMarket;
  expect(delivered).toMatchObject({ market: 'US', recipients: 1, amount: expect.any(Number) });
  expect(costEstimate(shippedRates, 'MARKETING', [...of('15550131026', '12125550123'), ...to('US')])).toEqual({
    cost: { amount: delivered?.amount, currency: 'USD' },
    byMarket: [delivered],
    notDelivered: [{ market: 'US', recipients: 2 }],
  });
});

test('a category that the rates do not know costs what marketing costs, also where marketing is not delivered (D32)', () => {
  const { cost, notDelivered } = costEstimate(shippedRates, 'PROMOTIONAL', to('BR', 'AR', 'US'));
  expect([cost.amount, notDelivered]).toEqual([0.1493, []]);
  expect(['PROMOTIONAL', 'utility'].map(unratedWarning)).toEqual([
    'no list price is known for the category PROMOTIONAL: it counts as MARKETING',
    undefined,
  ]);
});
