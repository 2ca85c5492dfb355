/**
 * The name among `known` that a misspelt one probably means, or undefined: `channelCampaigns`, `chanel_campaigns` and
 * `channel-campaign` all mean `channel_campaigns`. A quarter of the letters may differ, one always.
 */
export function nearName(given: string, known: readonly string[]): string | undefined {
  const wanted = folded(given.slice(0, maxComparedCharacters));
  let nearest: { readonly name: string; readonly edits: number } | undefined;
  for (const name of known) {
    const letters = folded(name);
    const allowed = Math.max(1, Math.floor(Math.max(letters.length, wanted.length) / 4));
    const edits = editsBetween(wanted, letters);
    if (edits <= allowed && edits < (nearest?.edits ?? Number.POSITIVE_INFINITY)) nearest = { name, edits };
  }
  return nearest?.name;
}

/** Longer than any name of ours by more than it may differ. */
const maxComparedCharacters = 60;

/** Snake, kebab and camel case fall together. */
function folded(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** Letters to add, leave out, or replace to come from one word to the other (Levenshtein). */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (letter === to[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
