import { present } from '../keys/present.ts';
import { after, type Entry, isOfClient, isStopped, joined, mayStart, standing, type Word } from './entry.ts';
import type { PersonName } from './person-name.ts';
import { type Scope, type ScopeText, type Sender, scopesOf, textOf } from './scope.ts';

/** What is kept under one name of a person: an entry for each scope, and the other names that the platform has told of. */
export interface PersonOptOuts {
  readonly entries: Readonly<Partial<Record<ScopeText, Entry>>>;
  readonly names: readonly PersonName[];
  /** Names that took the place of these, and since when: what was said until then counts for them too (`saidUntil`). */
  readonly became: Readonly<Record<PersonName, number>>;
}

export const nothingSaid: PersonOptOuts = { entries: {}, names: [], became: {} };

/**
 * More names than a person has who changes number each year. What the platform tells beyond them is not kept, so that neither an item
 * nor the writes of one word grow without end.
 */
export const mostNames = 12;

/** Two accounts of one person: all that either says. The first object where the second adds nothing. */
export function together(one: PersonOptOuts, other: PersonOptOuts): PersonOptOuts {
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
 * What was said until then, without names. A stop of the client whatever its time: the client may not know of the change yet, and
 * what it sends to an old user id goes to the new one (accept/replaced-ids.ts).
 */
export function saidUntil({ entries }: PersonOptOuts, atMs: number): PersonOptOuts {
  const until = <W extends Word>(word: W | undefined) =>
    word !== undefined && (word.atMs <= atMs || (isOfClient(word) && word.says === 'stopped')) ? word : undefined;
  const kept = (Object.entries(entries) as [ScopeText, Entry][]).flatMap(([text, { said, told }]) => {
    const entry: Entry = present({ said: until(said), told: until(told) });
    return standing(entry) === undefined ? [] : [[text, entry] as const];
  });
  return { ...nothingSaid, entries: Object.fromEntries(kept) };
}

/** A word of one scope, as an account of its own. */
export function accountOf(scope: Scope, word: Word, names: readonly PersonName[]): PersonOptOuts {
  return { ...nothingSaid, entries: { [textOf(scope)]: after(undefined, word) }, names: linked(names) };
}

/** Whether a word may not be taken: a start by the API of what the person or the platform has stopped. */
export function refuses(person: PersonOptOuts, scope: Scope, word: Word): boolean {
  return isOfClient(word) && word.says === 'started' && !mayStart(person.entries[textOf(scope)]);
}

/** The stop that concerns a message of the sender, the client's own first; undefined when there is none. */
export function stopFor({ entries }: PersonOptOuts, sender: Sender): Word | undefined {
  for (const text of scopesOf(sender)) {
    const entry = entries[text];
    if (entry !== undefined && isStopped(entry)) return standing(entry);
  }
  return undefined;
}

/** Where the platform itself refuses marketing to the person, whatever a client starts: numbers and WABAs. */
export function platformStops({ entries }: PersonOptOuts): ScopeText[] {
  return (Object.entries(entries) as [ScopeText, Entry][])
    .filter(([text, { said }]) => !text.startsWith('client:') && said?.says === 'stopped')
    .map(([text]) => text);
}

/** The names of one person as an item keeps them: one alone says nothing. */
export function linked(names: readonly PersonName[]): PersonName[] {
  return names.length > 1 ? [...names].sort() : [];
}
