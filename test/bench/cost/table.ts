import list from '../../../infra/operate/list-prices.json' with { type: 'json' };
import { billedNames, type Counts, dollarsOf, times, totalDollars } from './price.ts';

export const aMillion = 1_000_000;

/** Shows what a million would cost, by what AWS bills and by part of the way. */
export function tableOf(title: string, parts: Readonly<Record<string, Counts>>): string {
  const rows = billedNames.map((name) => {
    const dollars = Object.values(parts).map((counts) => dollarsOf(times(counts, aMillion))[name]);
    const amount = Object.values(parts).reduce((sum, counts) => sum + (counts[name] ?? 0), 0);
    return { name: list.prices[name].what, amount, dollars };
  });
  const head = ['', 'for each', ...Object.keys(parts), '$ a million'];
  const sum = (amounts: readonly number[]) => amounts.reduce((total, each) => total + each, 0);
  const lines = rows.map(({ name, amount, dollars }) => [
    name,
    amount.toPrecision(3),
    ...dollars.map((each) => each.toFixed(3)),
    sum(dollars).toFixed(3),
  ]);
  const totals = Object.values(parts).map((counts) => totalDollars(times(counts, aMillion)));
  const last = ['together', '', ...totals.map((each) => each.toFixed(3)), sum(totals).toFixed(3)];
  return [title, ...aligned([head, ...lines, last])].join('\n');
}

/** Pads the columns: the first stands to the left, the others to the right. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    return `  ${cells.join('  ')}`;
  });
}
