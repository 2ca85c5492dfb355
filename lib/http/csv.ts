/** A line of a table: its cells in order, of which one may be empty. */
export type CsvLine = readonly (string | number | undefined)[];

/** Lines as RFC 4180 spells them, each ended by CRLF. */
export function csvText(lines: readonly CsvLine[]): string {
  return lines.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

/** What a spreadsheet takes for a formula when a cell begins with it; some read wide signs as the others, or skip a line end. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;
/** A number of a person begins with a plus, and is worth no more than itself in any spreadsheet. */
const phoneNumber = /^\+\d+$/;

/**
 * Text that a spreadsheet would carry out gets an apostrophe in front, which it does not show: some of it is the words of others,
 * and whoever opens the file trusts it.
 */
function cellOf(value: string | number | undefined): string {
  if (value === undefined || typeof value === 'number') return String(value ?? '');
  const text = formula.test(value) && !phoneNumber.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
