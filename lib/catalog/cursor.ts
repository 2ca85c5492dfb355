/*
 * The contract has one `cursor` for both ways (D31). A forward cursor is the platform's `after` cursor as it is; the one
 * handed out as `before` says so itself, in front of the platform's.
 */

/** A cursor as the platform spells them; bounded, because clients send it back. A colon is not among its characters. */
export const platformCursorPattern = /^[\w+/=.~-]{1,1000}$/;

const backward = 'before:';

export type CatalogPosition = { readonly after: string } | { readonly before: string };

/** Where a client's cursor stands; undefined when it is no cursor. */
export function positionOf(cursor: string): CatalogPosition | undefined {
  const back = cursor.startsWith(backward);
  const atPlatform = back ? cursor.slice(backward.length) : cursor;
  if (!platformCursorPattern.test(atPlatform)) return undefined;
  return back ? { before: atPlatform } : { after: atPlatform };
}

/** What a client is given to go back from the page that begins at the platform's cursor. */
export function backwardCursor(platformCursor: string): string {
  return `${backward}${platformCursor}`;
}
