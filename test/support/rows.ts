/**
 * Reads a table in text: a row on each line, its cells between ` | `. Lines without text are left out, and an empty cell
 * is an empty text.
 */
export function rows(text: TemplateStringsArray, ...values: readonly unknown[]): string[][] {
  return String.raw(text, ...values)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.split('|').map((cell) => cell.trim()));
}
