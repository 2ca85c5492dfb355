/**
 * Returns the known name that a misspelt one probably means: `chanel_campaigns` and `channel-campaign` mean
 * `channel_campaigns`. A quarter of the letters may differ, and one always may.
 */
export function closestName(given: string, known: readonly string[]): string | undefined {
  return closestNames(given, known, 1)[0];
}

/** Returns at most `count` such names, nearest first, ties in the order given. */
export function closestNames(given: string, known: readonly string[], count: number): string[] {
  const wanted = folded(given.slice(0, maxComparedCharacters));
  const near: { readonly name: string; readonly edits: number }[] = [];
  for (const name of known) {
    const letters = folded(name);
    const allowed = Math.max(1, Math.floor(Math.max(letters.length, wanted.length) / 4));
    // Each letter more or less is an edit. Most headers of a request end here, before the dear comparison.
    if (Math.abs(letters.length - wanted.length) > allowed) continue;
    const edits = editsBetween(wanted, letters);
    if (edits <= allowed) near.push({ name, edits });
  }
  return near
    .sort((one, other) => one.edits - other.edits)
    .slice(0, count)
    .map(({ name }) => name);
}

/** Returns `; did you mean sent?`, or nothing. */
export function didYouMean(given: string, known: readonly string[]): string {
  const meant = closestName(given, known);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

/** No known name with its allowed edits is so long. */
const maxComparedCharacters = 60;

/** Snake, kebab and camel case become equal. */
export function folded(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

function editsBetween(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= from.length; row += 1) {
    rows.push([row]);
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = at(row - 1, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const swaps = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const swapped = swaps ? at(row - 2, column - 2) + 1 : replaced;
      rows[row]?.push(Math.min(replaced, swapped, at(row - 1, column) + 1, at(row, column - 1) + 1));
    }
  }
  return at(from.length, to.length);
}
