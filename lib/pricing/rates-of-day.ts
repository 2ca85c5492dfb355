import type { Rates } from './rates.ts';

/**
 * The rates in force on a day (`YYYY-MM-DD`), of those that are known: the last that had taken effect by then, and of a day
 * before all of them the first. Of two with one date the later in the list counts, which may correct the other.
 */
export function ratesOfDay(day: string, known: readonly [Rates, ...Rates[]]): Rates {
  const inOrder = known.toSorted((one, other) =>
    one.effective < other.effective ? -1 : Number(one.effective > other.effective),
  );
  return inOrder.findLast(({ effective }) => effective <= day) ?? inOrder[0] ?? known[0];
}

/** The day of a moment in UTC, `YYYY-MM-DD`. */
export function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
