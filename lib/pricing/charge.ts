import { knownCountries } from './country.ts';
import { unitsOf } from './money.ts';
import { type Category, categoryOf, priceOf } from './price.ts';
import { type KnownRates, ratesOfDay } from './rates-of-day.ts';

/** The platform's own word on the price of a message: `pricing` of its receipts (platform reference, 9.3 and 10.2). */
export interface ToldPricing {
  readonly billable?: boolean;
  readonly type?: string;
  readonly category?: string;
  readonly subtype?: string;
}

/** A message that was delivered. */
export interface Delivered {
  /** `YYYY-MM-DD` in UTC. */
  readonly day: string;
  /** ISO 3166-1 alpha-2; empty where the country of the recipient is unknown. */
  readonly market: string;
  /** Of its template, in any case: counts where the platform told none. */
  readonly templateCategory: string;
  readonly pricing?: ToldPricing | undefined;
}

export interface Charge {
  readonly billed: boolean;
  /** Undefined where there is no price for what the platform called it. */
  readonly category: Category | undefined;
  /** The list price, in units (money.ts); 0 where it was not billed, or has none. */
  readonly units: number;
}

/** Words of the platform for what our rates list under another (platform reference, 9.3). */
const listedAs: Readonly<Record<string, Category>> = {
  marketing_lite: 'Marketing',
  group_marketing: 'Marketing',
  group_utility: 'Utility',
  group_service: 'Service',
  'authentication-international': 'Authentication',
  authentication_international: 'Authentication',
  referral_conversion: 'Service',
};

/**
 * What a delivered message cost (D58). The platform's word decides whether it was billed and in which category; where it told
 * none, it was billed in the category of its template. The amount is the list price of the day on which it was delivered. A word
 * for a category that is unknown here leaves that of the template.
 */
export function chargeOf({ day, market, templateCategory, pricing }: Delivered, known: KnownRates): Charge {
  const told = pricing?.category?.toLowerCase();
  const category =
    (told === undefined ? undefined : (listedAs[told] ?? categoryOf(told))) ?? categoryOf(templateCategory);
  if (isFree(pricing)) return { billed: false, category, units: 0 };
  if (category === undefined || !knownCountries.has(market)) return { billed: true, category, units: 0 };
  return { billed: true, category, units: unitsOf(priceOf(ratesOfDay(day, known), market, category).rate.amount) };
}

/** `billable` is to be removed by the platform: the type tells the same, and a word of it counts before the other's absence. */
function isFree(pricing: ToldPricing | undefined): boolean {
  const { billable, type, subtype } = pricing ?? {};
  return billable === false || type?.startsWith('free_') === true || subtype === 'paid_exempt';
}
