import countries from './marketing-not-delivered.json' with { type: 'json' };
import { categoryOf } from './price.ts';

/** Where a message goes, as far as that is known before it is sent. */
export interface Destination {
  /** E.164 digits; undefined for a business-scoped user id. */
  readonly digits: string | undefined;
  /** ISO 3166-1 alpha-2; undefined where none is known. */
  readonly country: string | undefined;
}

/** Recipients of one country to which the platform delivers nothing of a category, and since when it does not. */
export interface Undelivered {
  /** ISO 3166-1 alpha-2. */
  readonly market: string;
  /** ISO date. */
  readonly since: string;
  readonly recipients: number;
}

/**
 * How many of these get no message of the category (in any case) because the platform delivers none to their country
 * (platform reference, 4.4): MARKETING to the United States. By country code; empty where all is delivered.
 */
export function undelivered(categoryWord: string, destinations: readonly Destination[]): Undelivered[] {
  return countries.flatMap(({ market, since }) => {
    const count = destinations.filter((each) => undeliveredMarket(categoryWord, each) === market).length;
    return count === 0 ? [] : [{ market, since, recipients: count }];
  });
}

/**
 * The country for whose sake one message of the category is not delivered; undefined for one that is. Prefixes that no person's
 * number has are excepted: 555 is no area code of the United States, though prices count it there.
 */
export function undeliveredMarket(categoryWord: string, { digits, country }: Destination): string | undefined {
  if (categoryOf(categoryWord) !== 'Marketing') return undefined;
  const rule = countries.find(({ market }) => market === country);
  return rule?.exceptPrefixes.some((prefix) => digits?.startsWith(prefix)) ? undefined : rule?.market;
}
