import { type Market, type Rates, shippedRates } from '../../lib/pricing/rates.ts';

/** Returns the shipped rates with another day and some changed markets. */
export function makeRates(effective: string, changes: Readonly<Record<string, Partial<Market>>> = {}): Rates {
  return {
    ...shippedRates,
    effective,
    markets: shippedRates.markets.map((market) => ({ ...market, ...changes[market.market] })),
  };
}
