import type { Rates } from './rates.ts';

/** Of two rates with one date, the later in the list is the correction. */
export type KnownRates = readonly [Rates, ...Rates[]];

/** Returns the rates in force on a day (`YYYY-MM-DD`); the first ones for a day before all. */
export function ratesOfDay(day: string, known: KnownRates): Rates {
  const inOrder = known.toSorted((one, other) =>
    one.effective < other.effective ? -1 : Number(one.effective > other.effective),
  );
  return inOrder.findLast(({ effective }) => effective <= day) ?? inOrder[0] ?? known[0];
}

/** Returns the day of a moment in UTC, `YYYY-MM-DD`. */
export function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
