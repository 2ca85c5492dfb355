import { knownCountries } from './country.ts';
import { unitsOf } from './money.ts';
import { type Category, categoryOf, priceOf } from './price.ts';
import { type KnownRates, ratesOfDay } from './rates-of-day.ts';

/** Receipts carry the platform's word on a message's price in `pricing` (platform reference, 9.3 and 10.2). */
export interface ReceiptPricing {
  readonly billable?: boolean;
  readonly type?: string;
  readonly category?: string;
  readonly subtype?: string;
}

export interface Delivered {
  /** The day is `YYYY-MM-DD` in UTC. */
  readonly day: string;
  /** The market is ISO 3166-1 alpha-2, empty for an unknown country. */
  readonly market: string;
  /** The category is in any case, and counts if the platform names none. */
  readonly templateCategory: string;
  readonly pricing?: ReceiptPricing | undefined;
}

export interface Charge {
  readonly billed: boolean;
  /** The category is undefined if the platform's has no price. */
  readonly category: Category | undefined;
  /** The list price is in units (money.ts), 0 if it was not billed, or has no price. */
  readonly units: number;
}

/** Our rates name these categories of the platform differently (platform reference, 9.3). */
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
 * Returns the cost of a delivered message (D58) at the list price of that day. The platform decides whether it was
 * billed and in which category, by default the template's.
 */
export function chargeOf({ day, market, templateCategory, pricing }: Delivered, known: KnownRates): Charge {
  const categoryWord = pricing?.category?.toLowerCase();
  const category =
    (categoryWord === undefined ? undefined : (listedAs[categoryWord] ?? categoryOf(categoryWord))) ??
    categoryOf(templateCategory);
  if (isFree(pricing)) return { billed: false, category, units: 0 };
  if (category === undefined || !knownCountries.has(market)) return { billed: true, category, units: 0 };
  return { billed: true, category, units: unitsOf(priceOf(ratesOfDay(day, known), market, category).rate.amount) };
}

/** The platform will remove `billable`; the type says the same. */
function isFree(pricing: ReceiptPricing | undefined): boolean {
  const { billable, type, subtype } = pricing ?? {};
  return billable === false || type?.startsWith('free_') === true || subtype === 'paid_exempt';
}
