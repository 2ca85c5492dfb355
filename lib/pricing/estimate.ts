import { knownCountries } from './country.ts';
import { categoryOf, priceOf } from './price.ts';
import type { Rates } from './rates.ts';
import { type Destination, undelivered, undeliveredMarket } from './undelivered.ts';

export interface CostEstimate {
  readonly cost: { readonly amount: number; readonly currency: string };
  readonly byMarket: readonly { readonly market: string; readonly recipients: number; readonly amount: number }[];
  /** The platform does not deliver the category in these countries, at no cost. */
  readonly notDelivered: readonly { readonly market: string; readonly recipients: number }[];
  /** The country of all other recipients is unknown, or the category has no price. */
  readonly unpriced: number;
}

/**
 * Prices one message to each destination, all of one category (in any case), exactly for rates of up to eight decimals.
 */
export function costEstimate(rates: Rates, categoryWord: string, destinations: readonly Destination[]): CostEstimate {
  const category = categoryOf(categoryWord);
  const notDelivered = undelivered(categoryWord, destinations).map(({ market, recipients }) => ({
    market,
    recipients,
  }));
  const counts = new Map<string, number>();
  for (const destination of destinations) {
    const { country } = destination;
    if (category === undefined || country === undefined || !knownCountries.has(country)) continue;
    if (undeliveredMarket(categoryWord, destination) !== undefined) continue;
    counts.set(country, (counts.get(country) ?? 0) + 1);
  }
  const byMarket = [...counts]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([market, recipients]) => {
      const each = category === undefined ? 0 : priceOf(rates, market, category).rate.amount;
      return { market, recipients, amount: withoutNoise(recipients * each) };
    });
  const amount = withoutNoise(byMarket.reduce((sum, market) => sum + market.amount, 0));
  const judged = [...byMarket, ...notDelivered].reduce((sum, { recipients }) => sum + recipients, 0);
  return { cost: { amount, currency: rates.currency }, byMarket, notDelivered, unpriced: destinations.length - judged };
}

/** Binary fractions add up to 0.30000000000000004; the error is far below the eighth decimal. */
function withoutNoise(amount: number): number {
  return Number(amount.toFixed(8));
}
