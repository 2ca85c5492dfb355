import * as v from 'valibot';
import { wholeNumber } from '../../http/documented.ts';
import { invalid } from '../../http/refusal.ts';
import { dollarsOf } from '../../pricing/money.ts';
import { utcDay } from '../../pricing/rates-of-day.ts';
import { spendKeptDays } from '../dispatch/items.ts';
import { recordAttribute, type SpendGroup, type SumKind, spendGroups, sumAttribute, sumKinds } from './count-step.ts';
import { type DispatchRecord, recordKinds } from './statement.ts';

export interface Days {
  readonly from: string;
  readonly to: string;
}

/**
 * Returns the requested days (D58); by default until today, from the first of that month. Refuses with 400 a wrong
 * order and days that are no longer kept.
 */
export function requestedDays(
  asked: { readonly from?: string | undefined; readonly to?: string | undefined },
  nowMs: number,
): Days {
  const to = asked.to ?? utcDay(nowMs);
  const oldest = utcDay(nowMs - spendKeptDays * 86_400_000);
  const firstOfMonth = `${to.slice(0, 7)}-01`;
  const from = asked.from ?? (firstOfMonth < oldest && oldest <= to ? oldest : firstOfMonth);
  if (from > to) throw invalid('from', `from must not be after to: ${from} is after ${to}`);
  if (from < oldest)
    throw invalid('from', `from must not be before ${oldest}: sums are kept for ${spendKeptDays} days`);
  return { from, to };
}

/** One item of a day has sums by attribute (`sumAttribute`). */
export interface DaySums {
  readonly day: string;
  readonly sums: Readonly<Record<string, number>>;
}

const Sums = {
  messages: v.pipe(
    wholeNumber,
    v.description('Messages that were delivered; of numbers without receipts, those that were sent.'),
  ),
  billed: v.pipe(
    wholeNumber,
    v.description('Those of them that the platform billed, or that count as billed where it tells nothing.'),
  ),
  amount: v.pipe(v.number(), v.description('Their list price on the days on which they were delivered.')),
  currency: v.literal('USD'),
};

/** A row is the spending of one campaign, template, DID or market, whichever was asked for. */
export const SpendRowSchema = v.object({
  campaign_id: v.optional(v.pipe(v.nullable(wholeNumber), v.description('null: of no campaign.'))),
  template: v.optional(v.object({ name: v.string(), language: v.string() })),
  did: v.optional(v.string()),
  market: v.optional(
    v.pipe(v.string(), v.description('ISO 3166-1 alpha-2, XK for Kosovo, or Other: the number is of no country.')),
  ),
  ...Sums,
});
type SpendRow = v.InferOutput<typeof SpendRowSchema>;

export const SpendDaySchema = v.object({
  day: v.pipe(v.string(), v.isoDate(), v.description('In UTC.')),
  sent: v.pipe(
    wholeNumber,
    v.description(
      'Messages of requests accepted on this day that the platform took, delivered or not; of requests of up to ten recipients, those whose delivery was told.',
    ),
  ),
  failed: v.pipe(wholeNumber, v.description('Those that reach no recipient, expired ones among them.')),
  held: v.pipe(wholeNumber, v.description('Those that the platform took and withholds.')),
  calls: v.pipe(
    wholeNumber,
    v.description('Calls to the platform for all of them, repeated ones too: at least so many.'),
  ),
  ...Sums,
});

export const SpendSchema = v.object({
  client_id: wholeNumber,
  from: v.pipe(v.string(), v.isoDate()),
  to: v.pipe(v.string(), v.isoDate()),
  group: v.picklist(spendGroups),
  data: v.array(SpendRowSchema),
  total: v.object(Sums),
  days: v.array(SpendDaySchema),
});

const named: Readonly<Record<SpendGroup, (value: string) => Partial<SpendRow>>> = {
  campaign: (value) => ({ campaign_id: value === '' ? null : Number(value) }),
  template: (value) => {
    // A language has no slash.
    const at = value.lastIndexOf('/');
    return { template: { name: value.slice(0, at), language: value.slice(at + 1) } };
  },
  did: (value) => ({ did: value }),
  market: (value) => ({ market: value }),
};

type Added = Record<SumKind, number>;

const attributeForm = /^([a-z]+)#([a-z]+)#(.*)$/s;

/**
 * Returns the rows of a group, the most expensive first, with their total. Adds integers; converts to dollars at the
 * end.
 */
export function spendOf(days: readonly DaySums[], group: SpendGroup) {
  const byValue = new Map<string, Added>();
  for (const { sums } of days) {
    for (const [attribute, by] of Object.entries(sums)) {
      const [, of, kind, value] = attributeForm.exec(attribute) ?? [];
      if (of !== group || value === undefined || !isKind(kind)) continue;
      const row = byValue.get(value) ?? { messages: 0, billed: 0, units: 0 };
      row[kind] += by;
      byValue.set(value, row);
    }
  }
  // Restated lines leave zeros.
  const rows = [...byValue].filter(([, { messages }]) => messages !== 0);
  const total = { messages: 0, billed: 0, units: 0 };
  for (const [, row] of rows) for (const kind of sumKinds) total[kind] += row[kind];
  const inOrder = rows.toSorted(
    ([one, a], [other, b]) => b.units - a.units || b.messages - a.messages || (one < other ? -1 : 1),
  );
  return {
    data: inOrder.map(([value, row]) => ({ ...named[group](value), ...inDollars(row) })),
    total: inDollars(total),
  };
}

function isKind(word: string | undefined): word is SumKind {
  return (sumKinds as readonly (string | undefined)[]).includes(word);
}

function inDollars({ messages, billed, units }: Added) {
  return { messages, billed, amount: dollarsOf(units), currency: 'USD' as const };
}

/** Numbers are integers, money is in units. */
export type ClientDay = DispatchRecord & Readonly<Record<SumKind, number>>;

/**
 * Returns a client's record by day (`YYYY-MM-DD`), sorted, without empty days. The record counts under the day of
 * acceptance, deliveries and their money under that of delivery.
 */
export function clientDays(items: readonly DaySums[]): ReadonlyMap<string, ClientDay> {
  const days = new Map<string, { -readonly [kind in keyof ClientDay]: number }>();
  // Each group contains all the money, so one suffices.
  const ofMoney = sumKinds.map((kind) => [sumAttribute('did', kind, ''), kind] as const);
  for (const { day, sums } of items) {
    const known = days.get(day) ?? { sent: 0, failed: 0, held: 0, calls: 0, messages: 0, billed: 0, units: 0 };
    days.set(day, known);
    for (const kind of recordKinds) known[kind] += sums[recordAttribute(kind)] ?? 0;
    for (const [attribute, by] of Object.entries(sums)) {
      const kind = ofMoney.find(([prefix]) => attribute.startsWith(prefix))?.[1];
      if (kind !== undefined) known[kind] += by;
    }
  }
  // Restated lines leave zeros, and their days are no rows.
  const kept = [...days].filter(([, of]) => Object.values(of).some((each) => each !== 0));
  return new Map(kept.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Returns the days of a client's record in the form of the answer. */
export function spendDays(items: readonly DaySums[]): v.InferOutput<typeof SpendDaySchema>[] {
  return [...clientDays(items)].map(([day, { sent, failed, held, calls, ...sums }]) => ({
    ...{ day, sent, failed, held, calls },
    ...inDollars(sums),
  }));
}
