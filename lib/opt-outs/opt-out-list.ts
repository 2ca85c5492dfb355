import * as v from 'valibot';
import { opaqueCursor, placeOf } from '../http/opaque-cursor.ts';
import { isUserId } from '../platform/user-id.ts';
import type { PersonOptOuts } from './person.ts';
import type { PersonName, Recipient } from './person-name.ts';

/** The client has named the person so in its list or been told. A person may have an item for each name. */
export interface ListedPerson {
  readonly name: PersonName;
  readonly recipient: Recipient;
  /** The client knows the person by this name since then. */
  readonly listedAtMs: number;
}

export interface ListedPage {
  readonly listed: readonly ListedPerson[];
  /** The next page begins after this name; the last page has none. */
  readonly next?: PersonName;
}

/** Its reads are strongly consistent, so that a client finds what it has just written. */
export interface OptOutList {
  /** Returns up to `limit` names of people, ordered by them, which is meaningless, in one request up to some 5,000. */
  page(
    clientId: number,
    asked: { readonly after: PersonName | undefined; readonly limit: number },
  ): Promise<ListedPage>;
  /** Reads the state of these people by name: 100 a request, side by side. */
  people(names: readonly PersonName[]): Promise<ReadonlyMap<PersonName, PersonOptOuts>>;
  /** Returns those of these names that are in the client's list: 100 a request, side by side. */
  listed(clientId: number, names: readonly PersonName[]): Promise<readonly ListedPerson[]>;
}

/** The list shows one row for each person (D55): a number first, then the other names that the client knows. */
export interface PersonRow {
  readonly name: PersonName;
  readonly recipient: Recipient;
  readonly also?: readonly Recipient[];
}

/**
 * Returns the names that have replaced a user id. What was said of it counts for them, and sends go to them (D24). A
 * replaced number keeps its row, because it may become another person's.
 */
function successorsOf({ name, recipient }: ListedPerson, people: ReadonlyMap<PersonName, PersonOptOuts>): PersonName[] {
  return isUserId(recipient) ? Object.keys(people.get(name)?.became ?? {}) : [];
}

/** Returns the other names of the people on a page, which may stand on another one. */
export function otherNamesOf(page: readonly ListedPerson[], people: ReadonlyMap<PersonName, PersonOptOuts>) {
  const onPage = new Set(page.map(({ name }) => name));
  const names = page.flatMap((row) => [...(people.get(row.name)?.names ?? []), ...successorsOf(row, people)]);
  return [...new Set(names)].filter((name) => !onPage.has(name));
}

/**
 * Returns the rows of a page. A person has one row over all pages, at the first name in the list's order. Names listed
 * since the walk began (`sinceMs`) come last; a replaced user id has no row.
 */
export function rowsOfPage(
  page: readonly ListedPerson[],
  {
    others,
    people,
    sinceMs,
  }: {
    readonly others: readonly ListedPerson[];
    readonly people: ReadonlyMap<PersonName, PersonOptOuts>;
    readonly sinceMs: number;
  },
): PersonRow[] {
  const known = new Map([...page, ...others].map((each) => [each.name, each]));
  const isLate = ({ listedAtMs }: ListedPerson) => listedAtMs > sinceMs;
  const isBefore = (one: ListedPerson, other: ListedPerson) =>
    isLate(one) === isLate(other) ? one.name < other.name : isLate(other);
  return page.flatMap((row) => {
    const names = new Set([row.name, ...(people.get(row.name)?.names ?? [])]);
    const spelled = [...names].flatMap((name) => known.get(name) ?? []);
    if (spelled.some((each) => isBefore(each, row))) return [];
    const successors = successorsOf(row, people).flatMap((name) => known.get(name) ?? []);
    if (successors.some((each) => !isLate(each))) return [];
    const [recipient = row.recipient, ...also] = spelled
      .map((each) => each.recipient)
      .sort((one, other) => Number(isUserId(one)) - Number(isUserId(other)) || (one < other ? -1 : 1));
    return [{ name: row.name, recipient, also: also.length === 0 ? undefined : also }];
  });
}

/** A walk through the pages began at `sinceMs`, and goes on after the name. */
export interface ListPlace {
  readonly after: PersonName;
  readonly sinceMs: number;
}

const PlaceSchema = v.strictTuple([v.pipe(v.string(), v.regex(/^[\w-]{43}$/)), v.pipe(v.number(), v.safeInteger())]);

function scopeOf(clientId: number): string {
  return `opt-outs ${clientId}`;
}

export function optOutsCursor(clientId: number, { after, sinceMs }: ListPlace): string {
  return opaqueCursor(scopeOf(clientId), [after, sinceMs]);
}

/** Returns the place before a page, or undefined for a cursor of another list. */
export function optOutsPlaceOf(clientId: number, cursor: string): ListPlace | undefined {
  const parsed = v.safeParse(PlaceSchema, placeOf(scopeOf(clientId), cursor));
  if (!parsed.success) return undefined;
  const [after, sinceMs] = parsed.output;
  return { after, sinceMs };
}
