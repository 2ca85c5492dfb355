import type { Rates } from './rates.ts';

/** All rates that are known; of two with one date the later in the list corrects the other. */
export type KnownRates = readonly [Rates, ...Rates[]];

/** The rates in force on a day (`YYYY-MM-DD`): the last that had taken effect by then, and of a day before all of them the first. */
export function ratesOfDay(day: string, known: KnownRates): Rates {
  const inOrder = known.toSorted((one, other) =>
    one.effective < other.effective ? -1 : Number(one.effective > other.effective),
  );
  return inOrder.findLast(({ effective }) => effective <= day) ?? inOrder[0] ?? known[0];
}

/** The day of a moment in UTC, `YYYY-MM-DD`. */
export function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
