/**
 * Amounts are whole numbers, for exact sums in memory and in the table. One unit is 10⁻⁸ of a dollar, the eighth
 * decimal of rates. Ninety million dollars are still exact.
 */
export const unitsPerDollar = 100_000_000;

/** Returns the units of an amount in dollars with up to eight decimals. */
export function unitsOf(dollars: number): number {
  return Math.round(dollars * unitsPerDollar);
}

export function dollarsOf(units: number): number {
  return units / unitsPerDollar;
}
