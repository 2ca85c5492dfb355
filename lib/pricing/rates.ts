import * as v from 'valibot';
import { knownCountries } from './country.ts';
import shipped from './rates-usd-2026-10-01.json' with { type: 'json' };

/** Service is free (contract, GET /v1/pricing), so it has no rate. */
export const ratedCategories = ['marketing', 'utility', 'authentication'] as const;
export type RatedCategory = (typeof ratedCategories)[number];

/** A message in the dearest market costs below a fifth of a dollar. */
const highestAmount = 2;
const Amount = v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(highestAmount));
const Text = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(200));
const Country = v.pipe(
  v.string(),
  v.check((code) => knownCountries.has(code), 'must be an ISO 3166-1 alpha-2 code, or XK'),
);

const MarketSchema = v.pipe(
  v.object({
    market: Text,
    /** A market of one country has it; all others are groups. */
    country: v.optional(Country),
    countries: v.optional(v.array(Country)),
    marketing: Amount,
    utility: Amount,
    authentication: Amount,
  }),
  v.check(
    (market) => (market.country === undefined) !== (market.countries === undefined),
    'needs country or countries',
  ),
);

/**
 * A rate file has the shape of rates-usd-2026-10-01.json, of the source, and of the stored copy
 * (infra/operate/README.md).
 */
export const RatesSchema = v.pipe(
  v.object({
    currency: v.literal('USD'),
    effective: v.pipe(v.string(), v.isoDate()),
    source: Text,
    unit: v.literal('USD per delivered message'),
    default_market: Text,
    markets: v.pipe(v.array(MarketSchema), v.minLength(1), v.maxLength(300)),
  }),
  v.check(({ markets }) => allDiffer(markets.map(({ market }) => market)), 'names a market twice'),
  v.check(({ markets }) => allDiffer(markets.flatMap(countriesOf)), 'has a country in two markets'),
  v.check((rates) => rates.markets.some(({ market }) => market === rates.default_market), 'lacks its default market'),
);

export type Market = v.InferOutput<typeof MarketSchema>;
export type Rates = v.InferOutput<typeof RatesSchema>;

export const shippedRates = shipped as Rates;

/**
 * Returns the market of a country: its own, its group, or the default one, also of what is no country (D32; platform
 * reference, 9.5). `RatesSchema` holds rates to a default market.
 */
export function marketOf(rates: Rates, country: string): Market {
  const found =
    rates.markets.find((market) => countriesOf(market).includes(country)) ??
    rates.markets.find(({ market }) => market === rates.default_market);
  if (found === undefined) throw new Error('the rates lack their default market');
  return found;
}

/** A tenfold change is a slipped decimal point. The factor is a little less, because ten times 0.07 is above 0.7. */
const implausibleFactor = 9.999;

/**
 * Returns why these rates must not replace those in force, as the end of a sentence, or undefined: they are older, lack
 * a market, or change a price tenfold.
 */
export function replacementFault(inForce: Rates, next: Rates): string | undefined {
  if (next.effective < inForce.effective) return `are of ${next.effective}, older than ${inForce.effective}`;
  const markets = new Set(next.markets.map(({ market }) => market));
  const gone = inForce.markets.find(({ market }) => !markets.has(market));
  if (gone !== undefined) return `lack the market ${gone.market}`;
  for (const country of knownCountries) {
    const [before, after] = [marketOf(inForce, country), marketOf(next, country)];
    const jump = ratedCategories.find((category) => jumps(before[category], after[category]));
    if (jump !== undefined) return `change ${jump} in ${country} from ${before[jump]} to ${after[jump]}`;
  }
  return undefined;
}

function jumps(before: number, after: number): boolean {
  return before !== after && Math.max(before, after) >= Math.min(before, after) * implausibleFactor;
}

function countriesOf({ country, countries: group }: Pick<Market, 'country' | 'countries'>): readonly string[] {
  return country === undefined ? (group ?? []) : [country];
}

function allDiffer(values: readonly string[]): boolean {
  return new Set(values).size === values.length;
}
