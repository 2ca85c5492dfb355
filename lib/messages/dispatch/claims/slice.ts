import { present } from '../../../keys/present.ts';

/*
 * A slice is up to ten consecutive recipients of a job: what is claimed, recorded and reported as one. Its item says how often
 * it was tried, who tries or tried it last, and what became of each recipient:
 *
 *   none ──claim──▶ claimed ──end──▶ ended ──claim of the next try──▶ claimed ...
 *   none or ended ──end, uncalled──▶ ended
 *
 * A try covers every recipient that the one before ended `again`; what has ended otherwise stays as it is. The writes, their
 * authors and their conditions:
 *
 * - *claim*, by a worker: of the first try no item is there, of a later one the try before has ended.
 * - *end*, by the claimant: it is the claimant's own claim, as the claimant knows it; or the claimant has ended it already (its
 *   reply was lost). Where an outcome of an earlier try was settled meanwhile, it is ended with that.
 * - *end uncalled*, by a worker that may have claimed, gives up before any call, or finds the job stopped: as its claim would be
 *   written, or as end. A claim that lands later meets it and is refused.
 * - *end for the dead*, by the worker that finds a claim older than any run lives: the claim is as that worker has read it. Whom
 *   the dead may have called is `unknown`; where the job was stopped before the claim they made no call, and it ends so.
 * - *withdraw*, by an acceptance that did not hear from the queue: no item is there. It is written together with the word that
 *   the job is taken back (D25), and what meets it ends without a word.
 * - *settle*, by a run of receipts, by the run that is about to tell of it, or by an operator: the outcome is still `unknown`,
 *   and the item is as read.
 * - *forget*, by the operator's erasing (D60): the item is as read. No state changes; its claimant goes on as after a settlement.
 *
 * No recipient is called by two claimants: a try is claimed once, and a later try calls only those of whom it is certain that
 * nothing was taken. Nothing but a settlement changes an outcome that is not `again`.
 */

/** Recipients of a slice. */
export const sliceSize = 10;

export interface SliceKey {
  readonly jobId: string;
  readonly slice: number;
}

export function sliceOf({ jobId, index }: { readonly jobId: string; readonly index: number }): SliceKey {
  return { jobId, slice: sliceAt(index) };
}

/** The slice of a recipient, by the index in the job. */
export function sliceAt(index: number): number {
  return Math.floor(index / sliceSize);
}

export function placeInSlice(index: number): number {
  return index % sliceSize;
}

/** What became of one recipient. */
export type Outcome =
  /** The platform took the message: its id there, and its word where it holds the message (D39). By a receipt alone there is no id. */
  | { readonly state: 'sent'; readonly platformMessageId?: string; readonly held?: string; readonly code?: string }
  | {
      readonly state: 'failed' | 'expired' | 'unknown';
      /** The platform's error code, or a word of ours. */
      readonly code: string;
      /** The platform's text for people. The client's data: stored, never logged. */
      readonly reason?: string;
    }
  /** Nothing was taken, and the message may be tried from then on. */
  | { readonly state: 'again'; readonly dueMs: number };

/** An outcome that was `unknown` and then settled says when. */
export type Recorded = Outcome & { readonly resolvedAtMs?: number };

export interface Slice {
  readonly key: SliceKey;
  /** From 0. */
  readonly try: number;
  /** Counts the writes: who changes what was read does so under the condition that this is as it was read. */
  readonly version: number;
  /** The run and the delivery that have claimed this try, unlike any other. */
  readonly owner: string;
  readonly atMs: number;
  readonly state: 'claimed' | 'ended';
  /** As in the head of its job, where that is kept for a time of its own (D56). */
  readonly keptUntilMs?: number;
  /** Calls to the platform that its claimants have recorded (D58); those of the dead are not among them. Absent: none. */
  readonly calls?: number;
  /** By the place in the slice; of a claimed one what the tries before have left, undefined of those not tried yet. */
  readonly outcomes: readonly (Recorded | undefined)[];
}

/** A claim as it is to be written. */
export interface SliceClaim extends Pick<Slice, 'key' | 'try' | 'owner' | 'atMs' | 'keptUntilMs'> {
  /** Recipients of the slice. */
  readonly size: number;
}

/** Whether the claim may be written over what is there. */
export function mayClaim(existing: Slice | undefined, claim: Pick<SliceClaim, 'try'>): boolean {
  if (existing === undefined) return claim.try === 0;
  return existing.state === 'ended' && existing.try === claim.try - 1;
}

/** Whether what is there was written under the claim. */
export function isOwn(existing: Slice | undefined, claim: Pick<SliceClaim, 'try' | 'owner'>): existing is Slice {
  return existing?.owner === claim.owner && existing.try === claim.try;
}

/** What is there once it is claimed. */
export function claimed(existing: Slice | undefined, claim: SliceClaim): Slice {
  const { key, owner, atMs, size, try: tried, keptUntilMs = existing?.keptUntilMs } = claim;
  const calls = existing?.calls;
  const outcomes = existing?.outcomes ?? Array.from({ length: size }, () => undefined);
  const facts = { key, version: nextVersion(existing), try: tried, owner, atMs, ...present({ keptUntilMs, calls }) };
  return { ...facts, state: 'claimed', outcomes };
}

function nextVersion(existing: Pick<Slice, 'version'> | undefined): number {
  return (existing?.version ?? 0) + 1;
}

/** Owns slice 0 of a job that its acceptance has taken back: a worker that would claim it sends nothing, and tells nothing (D25). */
const withdrawal = 'withdrawal';

/** What is there once a job is taken back whose only slice this is. */
export function withdrawn(claim: Omit<SliceClaim, 'owner' | 'try'>): Slice {
  const slice = claimed(undefined, { ...claim, owner: withdrawal, try: 0 });
  const outcome = { state: 'failed', code: withdrawal } as const;
  return ended(slice, new Map(openPlaces(slice).map((place) => [place, outcome])));
}

export function isWithdrawn({ owner }: Pick<Slice, 'owner'>): boolean {
  return owner === withdrawal;
}

/** What a try of a slice comes to, by the place in the slice: of those that it covers. */
export type Outcomes = ReadonlyMap<number, Outcome>;

/**
 * What is there once it is ended: what was settled before stays, whatever the try says of it. A place of which neither
 * says anything is `unknown`: the recipient may have been called. `calls`: those that the try has made.
 */
export function ended(slice: Slice, outcomes: Outcomes, calls = 0): Slice {
  return {
    ...slice,
    ...(calls === 0 ? {} : { calls: (slice.calls ?? 0) + calls }),
    version: nextVersion(slice),
    state: 'ended',
    outcomes: slice.outcomes.map((before, place) => {
      if (before !== undefined && before.state !== 'again') return before;
      return outcomes.get(place) ?? before ?? lost;
    }),
  };
}

/** Whom a dead claimant may have called. */
export const lost = { state: 'unknown', code: 'worker_lost' } as const satisfies Outcome;

/** A receipt proves that the platform took the message (D39). */
export const provenByReceipt = { state: 'sent', code: 'receipt' } as const satisfies Outcome;

/** The code of what an operator has settled by hand, which is no event (D34). */
export const resolvedByOperator = 'resolved_by_operator';

/** The try of a dead claimant, ended by another run: every recipient that it covers ends alike. */
export function endedForTheDead(slice: Slice, owner: string, outcome: Outcome = lost): Slice {
  return { ...ended(slice, new Map(openPlaces(slice).map((place) => [place, outcome]))), owner };
}

/** The places that a claimed try covers, and of an ended one those that the next try covers. */
export function openPlaces({ outcomes }: Pick<Slice, 'outcomes'>): number[] {
  return outcomes.flatMap((outcome, place) => (outcome === undefined || outcome.state === 'again' ? [place] : []));
}

/** When the first of an ended slice may be tried again; undefined when none of its recipients is to be tried again. */
export function dueMsOf({ outcomes }: Pick<Slice, 'outcomes'>): number | undefined {
  const due = outcomes.flatMap((outcome) => (outcome?.state === 'again' ? [outcome.dueMs] : []));
  return due.length === 0 ? undefined : Math.min(...due);
}

/** How outcomes end that were `unknown`, by the place in the slice. */
export type Settlements = ReadonlyMap<number, Exclude<Outcome, { readonly state: 'again' }>>;

/** The slice with `unknown` outcomes settled; undefined when none of them is unknown any more. */
export function settled(slice: Slice, settlements: Settlements, atMs: number): Slice | undefined {
  const isOpen = (place: number) => slice.outcomes[place]?.state === 'unknown';
  if (![...settlements.keys()].some(isOpen)) return undefined;
  const outcomes = slice.outcomes.map((before, place) => {
    const settlement = isOpen(place) ? settlements.get(place) : undefined;
    return settlement === undefined ? before : { ...settlement, resolvedAtMs: atMs };
  });
  return { ...slice, version: nextVersion(slice), outcomes };
}

/** The slice without what outcomes tell of these places that may name a person (D60); undefined when that is nothing. */
export function nameless(slice: Slice, places: ReadonlySet<number>): Slice | undefined {
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
