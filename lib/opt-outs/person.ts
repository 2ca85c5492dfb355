import {
  currentChange,
  type Entry,
  isOfClient,
  isStopped,
  joined,
  mayStart,
  type OptOutChange,
  withChange,
} from './entry.ts';
import type { PersonName } from './person-name.ts';
import { type Scope, type ScopeText, type Sender, scopesOf, textOf } from './scope.ts';

/** The state under one name of a person has an entry for each scope, and the person's other names. */
export interface PersonOptOuts {
  readonly entries: Readonly<Partial<Record<ScopeText, Entry>>>;
  readonly names: readonly PersonName[];
  /** These names have replaced this one since then. Earlier changes count for them too (`optOutsUntil`). */
  readonly became: Readonly<Record<PersonName, number>>;
}

export const noOptOuts: PersonOptOuts = { entries: {}, names: [], became: {} };

/**
 * The limit bounds item and writes: a person who changes number every year has fewer names. Further names are dropped.
 */
export const mostNames = 12;

/** Joins two states of one person. Returns the first object if the second adds nothing. */
export function mergedOptOuts(one: PersonOptOuts, other: PersonOptOuts): PersonOptOuts {
  const entries: Partial<Record<ScopeText, Entry>> = { ...one.entries };
  let isNews = false;
  for (const [text, entry] of Object.entries(other.entries) as [ScopeText, Entry][]) {
    const before = one.entries[text];
    const next = before === undefined ? entry : joined(before, entry);
    isNews ||= next !== before;
    entries[text] = next;
  }
  const names = [...new Set([...one.names, ...other.names])].slice(0, mostNames).sort();
  const became = { ...one.became };
  for (const [name, atMs] of Object.entries(other.became)) {
    const known = became[name];
    if (known === undefined ? Object.keys(became).length < mostNames : atMs < known) {
      became[name] = atMs;
      isNews = true;
    }
  }
  return isNews || names.length > one.names.length ? { entries, names, became } : one;
}

/**
 * Returns the entries up to that time, without names. A client's stop counts whenever it came: the client may not know
 * of the change, and its sends to an old user id go to the new one (accept/replaced-ids.ts).
 */
export function optOutsUntil({ entries }: PersonOptOuts, atMs: number): PersonOptOuts {
  const until = <W extends OptOutChange>(change: W | undefined) =>
    change !== undefined && (change.atMs <= atMs || (isOfClient(change) && change.says === 'stopped'))
      ? change
      : undefined;
  const kept = (Object.entries(entries) as [ScopeText, Entry][]).flatMap(([text, { said, told }]) => {
    const entry: Entry = { said: until(said), told: until(told) };
    return currentChange(entry) === undefined ? [] : [[text, entry] as const];
  });
  return { ...noOptOuts, entries: Object.fromEntries(kept) };
}

/** Returns one change of one scope as a state of its own. */
export function optOutsOfChange(scope: Scope, change: OptOutChange, names: readonly PersonName[]): PersonOptOuts {
  return { ...noOptOuts, entries: { [textOf(scope)]: withChange(undefined, change) }, names: linked(names) };
}

/** Only one change is refused: the API's start after a stop of the person or the platform. */
export function refuses(person: PersonOptOuts, scope: Scope, change: OptOutChange): boolean {
  return isOfClient(change) && change.says === 'started' && !mayStart(person.entries[textOf(scope)]);
}

/** Returns the stop for a message of the sender, the client's own first, or undefined without one. */
export function stopFor({ entries }: PersonOptOuts, sender: Sender): OptOutChange | undefined {
  for (const text of scopesOf(sender)) {
    const entry = entries[text];
    if (entry !== undefined && isStopped(entry)) return currentChange(entry);
  }
  return undefined;
}

/** Returns the stored names of one person; a single name links nothing. */
export function linked(names: readonly PersonName[]): PersonName[] {
  return names.length > 1 ? [...names].sort() : [];
}
