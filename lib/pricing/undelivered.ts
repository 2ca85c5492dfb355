import countries from './marketing-not-delivered.json' with { type: 'json' };
import { categoryOf } from './price.ts';

/** Not all of a destination is known before the send. */
export interface Destination {
  /** The digits are E.164; a business-scoped user id has none. */
  readonly digits: string | undefined;
  /** The country is ISO 3166-1 alpha-2, if known. */
  readonly country: string | undefined;
}

export interface Undelivered {
  readonly market: string;
  readonly since: string;
  readonly recipients: number;
}

/**
 * Returns recipients, by country code, that get no message of the category from the platform (platform reference, 4.4):
 * MARKETING to the United States. Returns empty when all is delivered.
 */
export function undelivered(categoryWord: string, destinations: readonly Destination[]): Undelivered[] {
  return countries.flatMap(({ market, since }) => {
    const count = destinations.filter((each) => undeliveredMarket(categoryWord, each) === market).length;
    return count === 0 ? [] : [{ market, since, recipients: count }];
  });
}

/** Tells whether the category has such countries. */
export function mayBeUndelivered(categoryWord: string): boolean {
  return categoryOf(categoryWord) === 'Marketing';
}

/**
 * Returns the country that gets no message of the category, or undefined. Prefixes without real people are excepted:
 * 555 is no area code of the United States, although prices count it there.
 */
export function undeliveredMarket(categoryWord: string, { digits, country }: Destination): string | undefined {
  if (!mayBeUndelivered(categoryWord)) return undefined;
  const rule = countries.find(({ market }) => market === country);
  return rule?.exceptPrefixes.some((prefix) => digits?.startsWith(prefix)) ? undefined : rule?.market;
}
