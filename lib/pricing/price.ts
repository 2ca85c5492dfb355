import * as v from 'valibot';
import { documentedAs, inAnyLetterCase } from '../http/documented.ts';
import { jsonExcerpt } from '../http/json-excerpt.ts';
import { Refusal } from '../http/refusal.ts';
import { countryMeant, knownCountries } from './country.ts';
import { marketOf, type RatedCategory, type Rates } from './rates.ts';

const categories = ['Authentication', 'Marketing', 'Utility', 'Service'] as const;
export type Category = (typeof categories)[number];

/** The word is documented in any letter case (D48). */
export const PriceCategoryWord = inAnyLetterCase(categories);

export const PriceSchema = v.object({
  market: v.pipe(v.string(), v.description('ISO 3166-1 alpha-2.')),
  currency: v.string(),
  category: v.pipe(
    v.picklist(categories),
    documentedAs(() => PriceCategoryWord),
  ),
  rate: v.object({ amount: v.number(), currency: v.string() }),
  source: v.string(),
  note: v.string(),
});
export type Price = v.InferOutput<typeof PriceSchema>;

/** Returns the category of a word in any case, or undefined. */
export function categoryOf(text: string): Category | undefined {
  return categories.find((category) => category.toLowerCase() === text.toLowerCase());
}

/**
 * Returns the category that prices a category word: its own, or that of an unknown word, which counts as marketing, the
 * highest (D32).
 */
export function pricedCategory(word: string): Category {
  return categoryOf(word) ?? 'Marketing';
}

/** Returns the list price of one message in dollars; every market has one (D32). Service messages are free. */
export function listPrice(rates: Rates, market: string, category: Category): number {
  return category === 'Service' ? 0 : marketOf(rates, market)[category.toLowerCase() as RatedCategory];
}

/**
 * Returns the list price of one message (D32), `country` in any case. Service messages are free here, despite the
 * platform's list (platform reference, 9.2). Refuses with 404 a code that is neither assigned by ISO 3166-1 nor `XK`.
 */
export function priceOf(rates: Rates, country: string, category: Category): Price {
  const code = /^[a-z]{2}$/i.test(country) ? country.toUpperCase() : '';
  if (!knownCountries.has(code)) throw noRate(country, code);
  const market = marketOf(rates, code);
  const { currency, source, effective } = rates;
  const free = category === 'Service';
  const amount = listPrice(rates, code, category);
  const listed = `list rate for each delivered message, effective ${effective}`;
  const grouped = market.country === undefined ? `${code} is priced in the group ${market.market}; ${listed}` : listed;
  return {
    market: code,
    currency,
    category,
    rate: { amount, currency },
    source,
    note: free ? serviceNote : grouped,
  };
}

function noRate(country: string, code: string): Refusal {
  const refused = 'no rate for that market and category';
  const hint = countryMeant(country);
  if (code !== '' && hint === '') return new Refusal('rate_not_found', refused);
  const message = `market must be a two-letter code (ISO 3166-1 alpha-2), received ${jsonExcerpt(country)}${hint}`;
  return new Refusal('rate_not_found', `${refused}: ${message}`, { errors: [{ path: 'market', message }] });
}

const serviceNote =
  'service messages are free; since 2026-10-01 the platform itself charges those beyond the first 1,000 delivered for a number in a month';
