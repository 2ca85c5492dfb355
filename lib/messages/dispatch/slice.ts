import type { MessageKey } from './head.ts';

// A slice is up to ten consecutive recipients of a dispatch: the unit of claims, records and reports.

// The states are none → (claim) claimed → (end) ended → (claim of the next try) claimed; none or ended → (end,
// uncalled) ended. A try covers the recipients that the previous one ended `again`.

// No recipient is called by two claimants: each try is claimed once, and a later try calls only provably unsent
// recipients. No outcome but `again` and `unknown` ever changes.

// Writes are conditional. A worker *claims*: the first try finds no item, a later one finds the try before ended.

// The claimant *ends* under its own claim. A second end means that the reply was lost; outcomes settled meanwhile stay.
// One that was taken for dead *settles* late: what it knows to be taken is `unknown` no longer.

// A worker that gives up before any call, or the sender of a stopped dispatch, *ends uncalled*. A claim that lands
// later is refused.

// A worker that finds a claim older than any run, as read, *ends for the dead*. Recipients become `unknown`, or as
// stopped where the dead worker provably saw the stop.

// An acceptance without the queue's confirmation *withdraws* if no item is there, in one write with the withdrawal of
// the dispatch (D25).

// That claimant, or an operator, *settles* `unknown` if the item is as read. An erasure *forgets* if it is as read
// (D60); the claimant goes on. Receipts change no slice: who reads both folds them (D39).

export const sliceSize = 10;

export function slicesIn({ total }: { readonly total: number }): number {
  return Math.ceil(total / sliceSize);
}

export interface SliceKey {
  readonly dispatchId: string;
  readonly slice: number;
}

export function sliceOf({ dispatchId, index }: MessageKey): SliceKey {
  return { dispatchId, slice: sliceAt(index) };
}

export function sliceAt(index: number): number {
  return Math.floor(index / sliceSize);
}

export function placeInSlice(index: number): number {
  return index % sliceSize;
}

export type Outcome =
  /**
   * The platform took the message: its id (unless only a receipt proves it), and its status if it holds the message
   * (D39).
   */
  | { readonly state: 'sent'; readonly platformMessageId?: string; readonly held?: string; readonly code?: string }
  | {
      readonly state: 'failed' | 'expired' | 'unknown';
      /** The code is the platform's, or one of our own. */
      readonly code: string;
      /** The text is the platform's for people and the client's data: stored, never logged. */
      readonly reason?: string;
    }
  /** The platform took nothing; the message may be tried from `dueMs` on. Once it was `refused`, it is not for ever. */
  | { readonly state: 'again'; readonly dueMs: number; readonly refused?: true };

/** `resolvedAtMs` is there if the outcome was `unknown` before: it counts from then. */
export type Recorded = Outcome & { readonly resolvedAtMs?: number };

export interface Slice {
  readonly key: SliceKey;
  readonly try: number;
  /** Counts the writes, for the optimistic lock. */
  readonly version: number;
  /** The owner is the run and delivery that claimed this try. */
  readonly owner: string;
  readonly atMs: number;
  readonly state: 'claimed' | 'ended';
  /** A scheduled send has it as in the head of the dispatch (D56). */
  readonly keptUntilMs?: number;
  /** Recorded calls to the platform count (D58), those of dead claimants do not. Absent means none. */
  readonly calls?: number;
  /** By place, a claimed slice has what earlier tries have left, undefined before the first. */
  readonly outcomes: readonly (Recorded | undefined)[];
}

export interface SliceClaim extends Pick<Slice, 'key' | 'try' | 'owner' | 'atMs' | 'keptUntilMs'> {
  readonly size: number;
}

export function mayClaim(existing: Slice | undefined, claim: Pick<SliceClaim, 'try'>): boolean {
  if (existing === undefined) return claim.try === 0;
  return existing.state === 'ended' && existing.try === claim.try - 1;
}

export function isOwn(existing: Slice | undefined, claim: Pick<SliceClaim, 'try' | 'owner'>): existing is Slice {
  return existing?.owner === claim.owner && existing.try === claim.try;
}

export function claimed(existing: Slice | undefined, claim: SliceClaim): Slice {
  const { key, owner, atMs, size, try: tried, keptUntilMs = existing?.keptUntilMs } = claim;
  const calls = existing?.calls;
  const outcomes = existing?.outcomes ?? Array.from({ length: size }, () => undefined);
  const facts = {
    key,
    version: nextVersion(existing),
    try: tried,
    owner,
    atMs,
    keptUntilMs,
    calls,
  };
  return { ...facts, state: 'claimed', outcomes };
}

function nextVersion(existing: Pick<Slice, 'version'> | undefined): number {
  return (existing?.version ?? 0) + 1;
}

/** This owner has slice 0 of a withdrawn dispatch: a worker that meets it sends and emits nothing (D25). */
const withdrawal = 'withdrawal';

export function withdrawn(claim: Omit<SliceClaim, 'owner' | 'try'>): Slice {
  const slice = claimed(undefined, { ...claim, owner: withdrawal, try: 0 });
  const outcome = { state: 'failed', code: withdrawal } as const;
  return ended(slice, new Map(openPlaces(slice).map((place) => [place, outcome])));
}

export function isWithdrawn({ owner }: Pick<Slice, 'owner'>): boolean {
  return owner === withdrawal;
}

/** A try has outcomes by place, for the recipients it covers. */
export type Outcomes = ReadonlyMap<number, Outcome>;

/**
 * Returns the slice after a try that made `calls`. Settled outcomes stay. A place without any outcome becomes
 * `unknown`: its recipient may have been called.
 */
export function ended(slice: Slice, outcomes: Outcomes, calls = 0): Slice {
  return {
    ...slice,
    ...(calls === 0 ? {} : { calls: (slice.calls ?? 0) + calls }),
    version: nextVersion(slice),
    state: 'ended',
    outcomes: slice.outcomes.map((before, place) => {
      if (before !== undefined && before.state !== 'again') return before;
      const outcome = outcomes.get(place) ?? before ?? lost;
      return outcome.state === 'again' && before?.refused ? { ...outcome, refused: true } : outcome;
    }),
  };
}

/** A dead claimant may have called these recipients. */
export const lost = { state: 'unknown', code: 'worker_lost' } as const satisfies Outcome;

/** Receipts proved that the platform took the message before the next try, or before it was told `unknown` (D39). */
export const provenByReceipt = { state: 'sent', code: 'receipt' } as const satisfies Outcome;

/** An operator's settlement emits no event (D34). */
export const resolvedByOperator = 'resolved_by_operator';

/** Ends the try of a dead claimant: all recipients that it covers get one outcome. */
export function endedForTheDead(slice: Slice, owner: string, outcome: Outcome = lost): Slice {
  return { ...ended(slice, new Map(openPlaces(slice).map((place) => [place, outcome]))), owner };
}

/** Returns the places that a claimed try covers, or that the next try of an ended slice will cover. */
export function openPlaces({ outcomes }: Pick<Slice, 'outcomes'>): number[] {
  return outcomes.flatMap((outcome, place) => (outcome === undefined || outcome.state === 'again' ? [place] : []));
}

/** Returns when the first recipient of an ended slice may be tried again, or undefined if none. */
export function dueMsOf({ outcomes }: Pick<Slice, 'outcomes'>): number | undefined {
  const due = outcomes.flatMap((outcome) => (outcome?.state === 'again' ? [outcome.dueMs] : []));
  return due.length === 0 ? undefined : Math.min(...due);
}

/** Returns the slice as it is told: its receipts prove `unknown` outcomes at these places taken (D39). */
export function folded(slice: Slice, proven: ReadonlySet<number>): Slice {
  const outcomes = slice.outcomes.map((outcome, place) =>
    outcome?.state === 'unknown' && proven.has(place) ? provenByReceipt : outcome,
  );
  return { ...slice, outcomes };
}

/** An `unknown` outcome was overruled by its late claimant: that is told (D39). */
export function isResolved(outcome: Recorded): boolean {
  return outcome.state === 'sent' && outcome.resolvedAtMs !== undefined && outcome.code !== resolvedByOperator;
}

export type Settlements = ReadonlyMap<number, Exclude<Outcome, { readonly state: 'again' }>>;

/** Returns what a claimant that was taken for dead settles late: `unknown` becomes `sent`, never the reverse (D29). */
export function takenOf(outcomes: Outcomes): Settlements {
  return new Map([...outcomes].flatMap(([place, each]) => (each.state === 'sent' ? [[place, each] as const] : [])));
}

/** Returns the slice with settled outcomes, or undefined when none of them is `unknown` any more. */
export function settled(slice: Slice, settlements: Settlements, atMs: number): Slice | undefined {
  const isOpen = (place: number) => slice.outcomes[place]?.state === 'unknown';
  if (![...settlements.keys()].some(isOpen)) return undefined;
  const outcomes = slice.outcomes.map((before, place) => {
    const settlement = isOpen(place) ? settlements.get(place) : undefined;
    return settlement === undefined ? before : { ...settlement, resolvedAtMs: atMs };
  });
  return { ...slice, version: nextVersion(slice), outcomes };
}

/**
 * Returns the slice without the texts and ids at these places that may name a person (D60). Returns undefined when
 * there are none.
 */
export function anonymized(slice: Slice, places: ReadonlySet<number>): Slice | undefined {
  const names = (outcome: Recorded | undefined, place: number) =>
    places.has(place) && outcome !== undefined && ('reason' in outcome || 'platformMessageId' in outcome);
  if (!slice.outcomes.some(names)) return undefined;
  const outcomes = slice.outcomes.map((outcome, place) => {
    if (outcome === undefined || !names(outcome, place)) return outcome;
    const { reason: _text, platformMessageId: _id, ...told } = { reason: '', platformMessageId: '', ...outcome };
    return told as Recorded;
  });
  return { ...slice, version: nextVersion(slice), outcomes };
}
