import * as v from 'valibot';
import { opaqueCursor, placeOf } from '../http/opaque-cursor.ts';
import type { PersonOptOuts } from './person.ts';
import type { PersonName, Recipient } from './person-name.ts';

/** The client has named the person in its list or been told. */
export interface ListedPerson {
  readonly name: PersonName;
  readonly recipient: Recipient;
}

export interface ListedPage {
  readonly listed: readonly ListedPerson[];
  /** The next page begins after this name; the last page has none. */
  readonly next?: PersonName;
}

/** Its reads are strongly consistent, so that a client finds what it has just written. */
export interface OptOutList {
  /** Returns up to `limit` people, ordered by their names, which are meaningless, in one request up to some 5,000. */
  page(
    clientId: number,
    asked: { readonly after: PersonName | undefined; readonly limit: number },
  ): Promise<ListedPage>;
  /** Reads the state of these people by name: 100 a request, side by side. */
  people(names: readonly PersonName[]): Promise<ReadonlyMap<PersonName, PersonOptOuts>>;
}

const NameSchema = v.pipe(v.string(), v.regex(/^[\w-]{43}$/));

function scopeOf(clientId: number): string {
  return `opt-outs ${clientId}`;
}

export function optOutsCursor(clientId: number, last: PersonName): string {
  return opaqueCursor(scopeOf(clientId), last);
}

/** Returns the name before a page, or undefined for a cursor of another list. */
export function optOutsPlaceOf(clientId: number, cursor: string): PersonName | undefined {
  const parsed = v.safeParse(NameSchema, placeOf(scopeOf(clientId), cursor));
  return parsed.success ? parsed.output : undefined;
}
