import { closestName } from '../http/closest-name.ts';
import countries from './countries.json' with { type: 'json' };
import phonePrefixes from './phone-prefixes.json' with { type: 'json' };

const countryOfPrefix: ReadonlyMap<string, string> = new Map(Object.entries(phonePrefixes));
const longestPrefix = Math.max(...[...countryOfPrefix.keys()].map((prefix) => prefix.length));

const kosovo = 'XK';

/** Countries have a price: those of ISO 3166-1, and Kosovo, to which it has assigned no code (D32). */
export const knownCountries: ReadonlySet<string> = new Set(countries);

/** Numbers and user ids of no country have this market (D32), as +881 of satellites. */
export const otherMarket = 'Other';

/** Tells whether a text is an officially assigned ISO 3166-1 alpha-2 code, in any case (D18). */
export function isCountry(text: string): boolean {
  const code = text.toUpperCase();
  return /^[a-z]{2}$/i.test(text) && knownCountries.has(code) && code !== kosovo;
}

/** Returns the market of a country as prices and sums name it: its code, or `Other` for none (D32). */
export function marketOfCountry(country: string | undefined): string {
  return country !== undefined && knownCountries.has(country) ? country : otherMarket;
}

/**
 * Returns the country of another code of two letters (`UK` is `GB`), else the one with the nearest name in English,
 * Spanish or Portuguese, or undefined when none is near.
 */
export function countryNamed(name: string): string | undefined {
  const current = /^[a-z]{2}$/i.test(name) ? new Intl.Locale(`und-${name}`).region : undefined;
  if (current !== undefined && knownCountries.has(current)) return current;
  const codes = new Map<string, string>();
  for (const language of ['en', 'es', 'pt']) {
    const names = new Intl.DisplayNames(language, { type: 'region' });
    for (const code of knownCountries) codes.set(names.of(code) ?? code, code);
  }
  const near = closestName(name, [...codes.keys()]);
  return near === undefined ? undefined : codes.get(near);
}

/** Returns `; did you mean GB?` for the code that the text probably means, or nothing where the text is that code. */
export function countryMeant(text: string): string {
  const meant = countryNamed(text);
  return meant === undefined || meant === text.toUpperCase() ? '' : `; did you mean ${meant}?`;
}

/**
 * Returns the country (ISO 3166-1 alpha-2) of a number in E.164 digits, by its longest known prefix, or undefined for
 * none.
 */
export function countryOfNumber(digits: string): string | undefined {
  for (let length = longestPrefix; length > 0; length -= 1) {
    const country = countryOfPrefix.get(digits.slice(0, length));
    if (country !== undefined) return country;
  }
  return undefined;
}
