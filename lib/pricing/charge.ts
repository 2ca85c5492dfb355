import { unitsOf } from './money.ts';
import { type Category, categoryOf, listPrice, pricedCategory } from './price.ts';
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
  /** The market is ISO 3166-1 alpha-2, `XK`, or `Other` for no country. */
  readonly market: string;
  /** The category is in any case, and counts if the platform names none. */
  readonly templateCategory: string;
  readonly pricing?: ReceiptPricing | undefined;
}

export interface Charge {
  readonly billed: boolean;
  readonly category: Category;
  /** The list price is in units (money.ts), 0 if it was not billed. */
  readonly units: number;
  /** The platform has told what it bills, and the rates have a price for it. */
  readonly isPriced: boolean;
}

/** The platform bills in these categories too; they count as an ordinary one, since no rate is known (D32). */
const ordinaryOf: ReadonlyMap<string, Category> = new Map([
  ['marketing_lite', 'Marketing'],
  ['group_marketing', 'Marketing'],
  ['group_utility', 'Utility'],
  ['group_service', 'Service'],
  ['authentication-international', 'Authentication'],
  ['authentication_international', 'Authentication'],
  ['referral_conversion', 'Service'],
]);

/**
 * Returns the cost of a delivered message (D58) at the list price of that day. The platform decides whether it was
 * billed and in which category, by default the template's.
 */
export function chargeOf({ day, market, templateCategory, pricing }: Delivered, known: KnownRates): Charge {
  const word = pricing?.category?.toLowerCase();
  const rated = categoryOf(word ?? templateCategory);
  const category = rated ?? ordinaryOf.get(word ?? '') ?? pricedCategory(templateCategory);
  if (isFree(pricing)) return { billed: false, category, units: 0, isPriced: true };
  const units = unitsOf(listPrice(ratesOfDay(day, known), market, category));
  return { billed: true, category, units, isPriced: pricing !== undefined && rated !== undefined };
}

/** The platform will remove `billable`; the type says the same. */
function isFree(pricing: ReceiptPricing | undefined): boolean {
  const { billable, type, subtype } = pricing ?? {};
  return billable === false || type?.startsWith('free_') === true || subtype === 'paid_exempt';
}
