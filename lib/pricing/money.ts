/**
 * Amounts as whole numbers, so that sums are exact in memory and in the table: one unit is 10⁻⁸ of a dollar, the eighth decimal
 * that rates may have. Ninety million dollars are still exact.
 */
export const unitsPerDollar = 100_000_000;

/** The units of an amount in dollars that has up to eight decimals. */
export function unitsOf(dollars: number): number {
  return Math.round(dollars * unitsPerDollar);
}

/** An amount in dollars, as answers tell it. */
export function dollarsOf(units: number): number {
  return units / unitsPerDollar;
}
