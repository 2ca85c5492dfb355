import { expect, test } from 'vitest';
import { costEstimate } from '../../../lib/pricing/estimate.ts';
import { shippedRates } from '../../../lib/pricing/rates.ts';

const times = (count: number, country: string | undefined) => Array.from({ length: count }, () => country);

test('the cost is the sum of the list prices, by country and in all, without the noise of binary fractions (D51)', () => {
  // 3 x 0.0618 is 0.18540000000000004 in floating point, 3 x 0.0125 + 0.1365 is 0.17400000000000002.
  const countries = [...times(3, 'AR'), ...times(3, 'CO'), 'DE', 'CA'];
  expect(costEstimate(shippedRates, 'MARKETING', countries)).toEqual({
    cost: { amount: 0.3844, currency: 'USD' },
    byMarket: [
      { market: 'AR', recipients: 3, amount: 0.1854 },
      { market: 'CA', recipients: 1, amount: 0.025 },
      { market: 'CO', recipients: 3, amount: 0.0375 },
      { market: 'DE', recipients: 1, amount: 0.1365 },
    ],
    notDelivered: [],
    unpriced: 0,
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
  const { byMarket } = costEstimate(shippedRates, 'MARKETING', ['AQ', 'CA']);
  expect(byMarket).toEqual([
    { market: 'AQ', recipients: 1, amount: 0.0604 },
    { market: 'CA', recipients: 1, amount: 0.025 },
  ]);
});

test('whose country nobody knows is counted, and costs nothing that could be said', () => {
  expect(costEstimate(shippedRates, 'UTILITY', ['BR', undefined, 'XK', 'ZZ'])).toEqual({
    cost: { amount: 0.0068, currency: 'USD' },
    byMarket: [{ market: 'BR', recipients: 1, amount: 0.0068 }],
    notDelivered: [],
    unpriced: 3,
  });
});

test.each([
  ['Marketing', 0.0618, [{ market: 'US', recipients: 2 }]],
  ['UTILITY', 0.0328, []],
])(
  'what the platform does not deliver costs nothing and is priced apart: %s (D51)',
  (category, amount, notDelivered) => {
    const estimate = costEstimate(shippedRates, category, ['US', 'AR', 'US', undefined]);
    expect(estimate).toMatchObject({ cost: { amount }, notDelivered, unpriced: 1 });
    expect(estimate.byMarket.map(({ market }) => market)).toEqual(notDelivered.length === 0 ? ['AR', 'US'] : ['AR']);
  },
);

test('a category that has no list price prices nobody', () => {
  const nothing = { cost: { amount: 0, currency: 'USD' }, byMarket: [], notDelivered: [], unpriced: 2 };
  expect(costEstimate(shippedRates, 'PROMOTIONAL', ['BR', 'AR'])).toEqual(nothing);
});
