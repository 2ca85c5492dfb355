/*
 * The contract has one `cursor` for both directions (D31): the platform's `after` cursor, or a prefix with its `before`
 * cursor.
 */

/** A platform's cursor is bounded because clients send it back. A colon never occurs in it. */
export const platformCursorPattern = /^[\w+/=.~-]{1,1000}$/;

const backward = 'before:';

export type CatalogPosition = { readonly after: string } | { readonly before: string };

/** Returns the position of a client's cursor, or undefined for other text. */
export function positionOf(cursor: string): CatalogPosition | undefined {
  const back = cursor.startsWith(backward);
  const atPlatform = back ? cursor.slice(backward.length) : cursor;
  if (!platformCursorPattern.test(atPlatform)) return undefined;
  return back ? { before: atPlatform } : { after: atPlatform };
}

/** Returns the cursor for the page before the one that begins here. */
export function backwardCursor(platformCursor: string): string {
  return `${backward}${platformCursor}`;
}
