import prefixes from '../data/phone-prefixes.json' with { type: 'json' };
import card from '../data/rates.json' with { type: 'json' };
import type { AcceptedMessage } from '../webhooks/receipts.ts';

/* The platform bills each message once (platform reference, 9), when it is delivered, whatever webhooks tell. This
   shares the service's rate card and number prefixes as facts; the calculation is a second implementation. */

export interface BillLine {
  readonly day: string;
  readonly waba_id: string;
  readonly phone_number_id: string;
  readonly country: string;
  readonly pricing_category: string;
  readonly pricing_type: string;
  readonly volume: number;
  readonly cost: number;
}

interface Delivery {
  readonly message: AcceptedMessage;
  readonly atMs: number;
}

/** Sums are integers of the rate card's finest price, a hundred-millionth of a dollar. */
const finest = 1e8;

type Row = (typeof card.markets)[number];

export class Bill {
  readonly #planned: Delivery[] = [];

  delivers(message: AcceptedMessage, atMs: number): void {
    this.#planned.push({ message, atMs });
  }

  /** Bills the deliveries up to that time. */
  until(nowMs: number): { readonly data: readonly BillLine[]; readonly total: { volume: number; cost: number } } {
    const lines = new Map<string, { readonly line: BillLine; volume: number; parts: number }>();
    for (const { message, atMs } of this.#planned) {
      if (atMs > nowMs) continue;
      const line = lineOf(message, atMs);
      const key = JSON.stringify(line);
      const entry = lines.get(key) ?? { line, volume: 0, parts: 0 };
      entry.volume += 1;
      entry.parts += partsOf(message, line.country);
      lines.set(key, entry);
    }
    const entries = [...lines.values()];
    const sum = (of: 'volume' | 'parts') => entries.reduce((total, entry) => total + entry[of], 0);
    return {
      data: entries.map(({ line, volume, parts }) => ({ ...line, volume, cost: parts / finest })),
      total: { volume: sum('volume'), cost: sum('parts') / finest },
    };
  }
}

function lineOf({ wabaId, metadata, recipient, pricing }: AcceptedMessage, atMs: number): BillLine {
  const names = { waba_id: wabaId, phone_number_id: metadata.phone_number_id, country: countryOf(recipient.key) };
  // A webhook's timestamp is in whole seconds.
  const day = new Date(Math.floor(atMs / 1_000) * 1_000).toISOString().slice(0, 10);
  const told = { pricing_category: pricing.category, pricing_type: pricing.type };
  return { day, ...names, ...told, volume: 0, cost: 0 };
}

/** Finds the longest matching number prefix; a user id begins with its country. */
function countryOf(key: string): string {
  if (/^[A-Z]/.test(key)) return key.slice(0, 2);
  const known: Readonly<Record<string, string>> = prefixes;
  for (let end = key.length; end > 0; end -= 1) {
    const country = known[key.slice(0, end)];
    if (country !== undefined) return country;
  }
  return 'ZZ';
}

function partsOf({ pricing }: AcceptedMessage, country: string): number {
  if (pricing.type !== 'regular' || pricing.category === 'service') return 0;
  const row = card.markets.find((each) => listed(each).includes(country)) ?? card.markets.find(isOther);
  if (row === undefined) throw new Error('the rate card has no row for the rest of the world');
  const { category } = pricing;
  const price = category.startsWith('marketing')
    ? row.marketing
    : category === 'utility'
      ? row.utility
      : row.authentication;
  return Math.round(price * finest);
}

function listed(row: Row): readonly string[] {
  return 'countries' in row && row.countries !== undefined ? row.countries : [String(row.country)];
}

function isOther({ market }: Row): boolean {
  return market === card.default_market;
}
