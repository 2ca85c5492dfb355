import { present } from '../keys/present.ts';

/*
 * Whether a person wants marketing within one scope (D55): of a client, of a number of the platform for all who send from it, or of
 * a WABA. An entry has two sides, for what the person and the platform say is not for the API to lift:
 *
 *   said   platform    `user_preferences` of a number: stop, resume or signup        the reader of webhooks
 *          refused     the platform answers 131050, by a call or by a receipt: stop  workers, receipts
 *          reply       a stop or start word (stop-words.ts)                          the reader of webhooks
 *          quick_reply the button that ends marketing: stop                          the reader of webhooks
 *   told   api         PUT and DELETE of /v1/opt-outs: stop and start                the client
 *          import      the operator's file: stop                                     the operator
 *
 * Each side keeps its latest word (`after`): the later time wins, at one time stop does. So an entry is the greatest of all the words
 * that were ever said to it: their order and repetition change nothing, and two entries become one by the same rule (`joined`).
 *
 *   said stopped                          -> stopped, until the person or the platform says start: `mayStart` refuses the API (409)
 *   told stopped                          -> stopped, until the client starts it, or the person does, certainly later
 *   anything else                         -> not stopped
 *
 * Whether the API may start is judged in the write itself (person.ts), not before it. Where a start of the API was taken and an
 * earlier stop of the person comes late, the person is stopped: the other side is not touched by the API. No clock of ours is compared
 * with the platform's but where both sides meet, and there what is doubtful is a stop.
 */

export type PersonSource = 'platform' | 'refused' | 'reply' | 'quick_reply';
export type ClientSource = 'api' | 'import';
export type Source = PersonSource | ClientSource;

/** What was said: `atMs` by the platform's clock for a word of the person or the platform, by ours for one of the client. */
export interface Word<From extends Source = Source> {
  readonly says: 'stopped' | 'started';
  readonly atMs: number;
  readonly source: From;
}

/** One side at least is there. */
export interface Entry {
  readonly said?: Word<PersonSource>;
  readonly told?: Word<ClientSource>;
}

const clientSources: ReadonlySet<Source> = new Set<ClientSource>(['api', 'import']);

export function isOfClient(word: Word): word is Word<ClientSource> {
  return clientSources.has(word.source);
}

/** The entry after a word: the same object where the word changes nothing. */
export function after(entry: Entry | undefined, word: Word): Entry {
  return joined(entry ?? {}, isOfClient(word) ? { told: word } : { said: word as Word<PersonSource> });
}

/** What two entries say together: commutative, associative and idempotent. The first object where the second adds nothing. */
export function joined(one: Entry, other: Entry): Entry {
  const said = latest(one.said, other.said);
  const told = latest(one.told, other.told);
  return said === one.said && told === one.told ? one : present({ said, told });
}

/** The first of two that are alike. */
function latest<From extends Source>(
  one: Word<From> | undefined,
  other: Word<From> | undefined,
): Word<From> | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return isBefore(one, other) ? other : one;
}

/** A total order of words: by time, then start before stop, then by name, so that no two that differ are alike. */
function isBefore(one: Word, other: Word): boolean {
  if (one.atMs !== other.atMs) return one.atMs < other.atMs;
  if (one.says !== other.says) return one.says === 'started';
  return one.source < other.source;
}

/** So far the platform's clock, which tells whole seconds, may be from ours. */
export const doubtMs = 5_000;

/** The word that holds now; undefined of an entry without one. Of two stops that of the person, which the API may not lift. */
export function standing({ said, told }: Entry): Word | undefined {
  if (said?.says === 'stopped' || told === undefined) return said;
  if (said === undefined) return told;
  if (told.says === 'stopped') return said.atMs > told.atMs + doubtMs ? said : told;
  return said.atMs > told.atMs ? said : told;
}

export function isStopped(entry: Entry): boolean {
  return standing(entry)?.says === 'stopped';
}

/** Whether the client's own API may start it: not what the person or the platform has stopped (409). */
export function mayStart(entry: Entry | undefined): boolean {
  return entry?.said?.says !== 'stopped';
}

/** A word further ahead of our clock than this has no time that could be believed. */
const longestAheadMs = 60_000;

/**
 * When a word of the person counts, given what the platform has told of its time: a stop without a time, or from the future, from its
 * arrival on. Such a start is undefined, and says nothing: it might be older than any stop.
 */
export function timeOfWord(says: Word['says'], atMs: number | undefined, receivedAtMs: number): number | undefined {
  if (atMs !== undefined && atMs <= receivedAtMs + longestAheadMs) return atMs;
  return says === 'stopped' ? receivedAtMs : undefined;
}
