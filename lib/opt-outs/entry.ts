/*
 * An entry says whether a person wants marketing within one scope (D55). It has two sides: `said` by person or
 * platform, which the API cannot lift, and `told` by client or operator.
 */

/**
 * `platform` is `user_preferences` (stop, resume, signup); `refused` is code 131050 of a call or receipt; `reply` is a
 * stop or start word (stop-words.ts); `quick_reply` is the button that ends marketing.
 */
export type PersonSource = 'platform' | 'refused' | 'reply' | 'quick_reply';
/** `api` is PUT and DELETE of /v1/opt-outs; `import` is the operator's file. */
export type ClientSource = 'api' | 'import';
export type Source = PersonSource | ClientSource;

/** `atMs` is the platform's time for the person's side, and this service's for the client's. */
export interface OptOutChange<From extends Source = Source> {
  readonly says: 'stopped' | 'started';
  readonly atMs: number;
  readonly source: From;
}

/** At least one side is present. */
export interface Entry {
  readonly said?: OptOutChange<PersonSource>;
  readonly told?: OptOutChange<ClientSource>;
}

const clientSources: ReadonlySet<Source> = new Set<ClientSource>(['api', 'import']);

export function isOfClient(change: OptOutChange): change is OptOutChange<ClientSource> {
  return clientSources.has(change.source);
}

/** Returns the entry after a change; the same object if nothing changes. */
export function withChange(entry: Entry | undefined, change: OptOutChange): Entry {
  return joined(entry ?? {}, isOfClient(change) ? { told: change } : { said: change as OptOutChange<PersonSource> });
}

/**
 * Joins two entries: is commutative, associative and idempotent, so neither order nor retries of changes matter. Each
 * side keeps its latest change. Returns the first object if the second adds nothing.
 */
export function joined(one: Entry, other: Entry): Entry {
  const said = latest(one.said, other.said);
  const told = latest(one.told, other.told);
  return said === one.said && told === one.told ? one : { said, told };
}

/** Returns the first of equal changes. */
function latest<From extends Source>(
  one: OptOutChange<From> | undefined,
  other: OptOutChange<From> | undefined,
): OptOutChange<From> | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return isBefore(one, other) ? other : one;
}

/** Orders changes totally: by time, then start before stop, then by source. */
function isBefore(one: OptOutChange, other: OptOutChange): boolean {
  if (one.atMs !== other.atMs) return one.atMs < other.atMs;
  if (one.says !== other.says) return one.says === 'started';
  return one.source < other.source;
}

/** The platform's clock, in whole seconds, and this service's differ by no more. */
export const clockSkewMs = 5_000;

/**
 * Returns the change that holds now, or undefined. A person's stop wins over a client's, which the API may lift. When
 * both sides' clocks meet, the doubtful case is a stop.
 */
export function currentChange({ said, told }: Entry): OptOutChange | undefined {
  if (said?.says === 'stopped' || told === undefined) return said;
  if (said === undefined) return told;
  if (told.says === 'stopped') return said.atMs > told.atMs + clockSkewMs ? said : told;
  return said.atMs > told.atMs ? said : told;
}

export function isStopped(entry: Entry): boolean {
  return currentChange(entry)?.says === 'stopped';
}

/**
 * Tells whether the client's API may start it: not after a stop of the person or the platform (409). The write itself
 * checks it (person.ts).
 */
export function mayStart(entry: Entry | undefined): boolean {
  return entry?.said?.says !== 'stopped';
}

/** A change further in the future than this has no credible time. */
const longestAheadMs = 60_000;

/**
 * Returns when a person's change counts. A stop without a time, or from the future, counts from its arrival. Such a
 * start is ignored, because it may be older than any stop.
 */
export function changeTimeMs(
  says: OptOutChange['says'],
  atMs: number | undefined,
  receivedAtMs: number,
): number | undefined {
  if (atMs !== undefined && atMs <= receivedAtMs + longestAheadMs) return atMs;
  return says === 'stopped' ? receivedAtMs : undefined;
}
