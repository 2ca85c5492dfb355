export type Cell = string | number | undefined;

/**
 * Returns a table with headings, for a terminal and for a pipe: what has no value is `-`, numbers have no thousands
 * separators, and only the last column may have blanks. Control characters are dropped, because a terminal obeys them.
 */
export function tableOf(headings: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const texts = rows.map((row) => row.map(textOf));
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...texts.map((row) => row[column]?.length ?? 0)),
  );
  const areNumbers = headings.map((_, column) => rows.length > 0 && rows.every((row) => isCount(row[column])));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return areNumbers[column] ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  return [line(headings), ...texts.map(line)];
}

const isCount = (cell: Cell) => typeof cell === 'number' || cell === undefined;

function textOf(cell: Cell): string {
  const text = String(cell ?? '').replaceAll(/\p{Cc}/gu, '');
  return text === '' ? '-' : text;
}
