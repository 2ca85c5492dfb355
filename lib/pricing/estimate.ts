import { marketOfCountry } from './country.ts';
import { categoryOf, listPrice, pricedCategory } from './price.ts';
import type { Rates } from './rates.ts';
import { type Destination, undelivered, undeliveredMarket } from './undelivered.ts';

export interface CostEstimate {
  readonly cost: { readonly amount: number; readonly currency: string };
  /** A market is a country, or `Other` for recipients of none (D32). */
  readonly byMarket: readonly { readonly market: string; readonly recipients: number; readonly amount: number }[];
  /** The platform does not deliver the category in these countries, at no cost. */
  readonly notDelivered: readonly { readonly market: string; readonly recipients: number }[];
}

/**
 * Prices one message to each destination, all of one category (in any case), exactly for rates of up to eight decimals.
 * None is without a price (D32).
 */
export function costEstimate(rates: Rates, categoryWord: string, destinations: readonly Destination[]): CostEstimate {
  const category = pricedCategory(categoryWord);
  const notDelivered = undelivered(categoryWord, destinations).map(({ market, recipients }) => ({
    market,
    recipients,
  }));
  const counts = new Map<string, number>();
  for (const destination of destinations) {
    if (undeliveredMarket(categoryWord, destination) !== undefined) continue;
    const market = marketOfCountry(destination.country);
    counts.set(market, (counts.get(market) ?? 0) + 1);
  }
  const byMarket = [...counts]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([market, recipients]) => {
      const amount = withoutNoise(recipients * listPrice(rates, market, category));
      return { market, recipients, amount };
    });
  const amount = withoutNoise(byMarket.reduce((sum, market) => sum + market.amount, 0));
  return { cost: { amount, currency: rates.currency }, byMarket, notDelivered };
}

/** Returns the warning of a send in a category that the rates do not know (D32), or undefined. */
export function unratedWarning(categoryWord: string): string | undefined {
  if (categoryOf(categoryWord) !== undefined) return undefined;
  return `no list price is known for the category ${categoryWord}: it counts as ${pricedCategory(categoryWord).toUpperCase()}`;
}

/** Binary fractions add up to 0.30000000000000004; the error is far below the eighth decimal. */
function withoutNoise(amount: number): number {
  return Number(amount.toFixed(8));
}
