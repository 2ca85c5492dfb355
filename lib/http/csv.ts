/** Cells are in order; undefined is an empty one. */
export type CsvLine = readonly (string | number | undefined)[];

/** Spells lines as RFC 4180 does, each ended by CRLF. */
export function csvText(lines: readonly CsvLine[]): string {
  return lines.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

/** Spreadsheets take such a cell for a formula. Some accept wide signs, or skip a line end. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;
/** A phone number begins with a plus, and is harmless as a formula. */
const phoneNumber = /^\+\d+$/;

/**
 * Text that a spreadsheet would execute gets a hidden apostrophe: some of it comes from strangers, and the reader
 * trusts the file.
 */
function cellOf(value: string | number | undefined): string {
  if (value === undefined || typeof value === 'number') return String(value ?? '');
  const text = formula.test(value) && !phoneNumber.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
