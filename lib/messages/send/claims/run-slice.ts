import type { TriedRecipient } from '../../dispatch/call-facts.ts';
import {
  dueMsOf,
  folded,
  isWithdrawn,
  type Outcome,
  type Outcomes,
  openPlaces,
  provenByReceipt,
  type Recorded,
  type Settlements,
  type Slice,
  type SliceClaim,
  settled,
  takenOf,
} from '../../dispatch/slice.ts';
import type { Slices } from '../../dispatch/slice-store.ts';

export interface SliceTry {
  readonly claim: SliceClaim;
  readonly recipients: ReadonlyMap<number, TriedRecipient>;
}

/** These facts are read strongly after the claim and before any call, or when the claimant is found dead. */
export interface SliceLook {
  /**
   * Returns to a claimant the outcome of uncalled recipients when the dispatch is stopped or waits, else undefined.
   * Never throws.
   */
  readonly heldBack: () => Promise<Outcome | undefined>;
  /** At these places of a later try, a receipt proves that the platform took the message (D39). */
  readonly proven: ReadonlySet<number>;
  /** The people at these places must not be called, and have this outcome. */
  readonly barred: ReadonlyMap<number, Outcome>;
  /** A dead claimant's recipients end `unknown`, or as the dispatch was stopped where that is certain. */
  readonly ofDead: Outcome;
}

export interface SlicePorts {
  readonly slices: Slices;
  readonly look: (claim: SliceClaim) => Promise<SliceLook>;
  readonly markUnknown: (dispatchId: string) => Promise<void>;
  readonly proven: (claim: Pick<SliceClaim, 'key'>) => Promise<ReadonlySet<number>>;
  /** Tells the endings of a late end, idempotently by their ids. */
  readonly tell: (late: Slice) => Promise<void>;
  /** Calls one recipient at its turn, or not any more. Never throws. */
  readonly call: (recipient: TriedRecipient) => Promise<Outcome>;
  readonly nowMs: () => number;
  /** Waits with backoff before a failed write is repeated; returns false when no time is left. */
  readonly mayRepeat: (times: number) => Promise<boolean>;
  readonly claimLifeMs: number;
  /** The dispatch is stopped, so no next try is awaited. */
  readonly isStopped?: () => boolean;
  /** Returns when to repeat a try that failed before any call. */
  readonly retryMs: () => number;
}

export type SliceEnd =
  /** The slice is recorded, and must be emitted as its receipts show it. Its `again` outcomes are due at their time. */
  | { readonly kind: 'ended'; readonly slice: Slice }
  /** Another run has gone on with the slice and this try was emitted, or the dispatch was withdrawn. */
  | { readonly kind: 'over' }
  /** The delivery must come again, not before `atMs` if known. */
  | { readonly kind: 'later'; readonly atMs?: number };

/**
 * Makes one try of a slice, or finds out how it ended. Never calls a recipient whose message may be taken (R13, D29) or
 * is proven taken (D39). Throws when the store fails.
 */
export async function runSlice({ claim, recipients }: SliceTry, ports: SlicePorts): Promise<SliceEnd> {
  const taken = await ports.slices.claim(claim).catch(() => undefined);
  if (taken === undefined) return await giveUp(claim, recipients.keys(), ports);
  if (taken.kind === 'met') return await yieldTo(taken.slice, claim, ports);

  const covered = openPlaces(taken.slice);
  const look = await ports.look(claim).catch(() => undefined);
  if (look === undefined) return await giveUp(claim, covered, ports);
  const known = { ...look, heldBack: await look.heldBack() };
  const outcomes = await Promise.all(
    covered.map((place) => {
      const recipient = triedBefore(recipients.get(place), taken.slice.outcomes[place]);
      return outcomeAt(place, recipient, known, ports);
    }),
  );
  return await endedBy(taken.slice, new Map(outcomes), ports);
}

/** Other runs left no memory of what they tried but the slice. */
function triedBefore(recipient: TriedRecipient | undefined, before: Recorded | undefined): TriedRecipient | undefined {
  const isRefused = before?.state === 'again' && before.refused === true;
  return recipient && isRefused ? { attempts: { before: 1 }, ...recipient } : recipient;
}

async function outcomeAt(
  place: number,
  recipient: TriedRecipient | undefined,
  { heldBack, proven, barred }: Pick<SliceLook, 'proven' | 'barred'> & { readonly heldBack: Outcome | undefined },
  ports: SlicePorts,
): Promise<readonly [place: number, outcome: Outcome]> {
  if (proven.has(place)) return [place, provenByReceipt];
  // A recipient that this delivery does not carry waits for one that does.
  if (recipient === undefined) return [place, { state: 'again', dueMs: ports.retryMs() }];
  // A stop comes first, as reports show it. A barred recipient does not wait for a hold, which it cannot probe.
  if (heldBack !== undefined && heldBack.state !== 'again') return [place, heldBack];
  return [place, barred.get(place) ?? heldBack ?? (await ports.call(recipient))];
}

async function endedBy(own: Slice, outcomes: ReadonlyMap<number, Outcome>, ports: SlicePorts): Promise<SliceEnd> {
  if ([...outcomes.values()].some(({ state }) => state === 'unknown')) {
    await persistently(() => ports.markUnknown(own.key.dispatchId), ports);
  }
  const slice = await persistently(() => ports.slices.end(own, outcomes), ports);
  return slice === undefined ? await endLate(own, takenOf(outcomes), ports) : await toEmit(slice, ports);
}

/**
 * This run was taken for dead. It tells what the platform took before it writes that: once it is written, a run that
 * dies leaves only receipts to tell it.
 */
async function endLate(own: Slice, taken: Settlements, ports: SlicePorts): Promise<SliceEnd> {
  for (;;) {
    const seen = await persistently(() => ports.slices.find(own.key), ports);
    if (seen?.try !== own.try || seen.state !== 'ended') return { kind: 'later' };
    const late = settled(seen, taken, seen.atMs);
    if (late === undefined) return await toEmit(seen, ports);
    await persistently(() => ports.tell(late), ports);
    const slice = await persistently(() => ports.slices.settle(seen, taken, seen.atMs), ports);
    if (slice !== undefined) return await toEmit(slice, ports);
  }
}

/** No recipient was called, so it does not matter whether the claim was written. */
async function giveUp(claim: SliceClaim, places: Iterable<number>, ports: SlicePorts): Promise<SliceEnd> {
  const again: Outcome = { state: 'again', dueMs: ports.retryMs() };
  const outcomes: Outcomes = new Map([...places].map((place) => [place, again]));
  const slice = await persistently(() => ports.slices.endUncalled(claim, outcomes), ports);
  return slice === undefined ? { kind: 'later' } : await toEmit(slice, ports);
}

/** Repeats the write: its facts are known only to this run. */
async function persistently<T>(write: () => Promise<T>, ports: SlicePorts): Promise<T> {
  for (let times = 1; ; times += 1) {
    try {
      return await write();
    } catch (error) {
      if (!(await ports.mayRepeat(times))) throw error;
    }
  }
}

async function yieldTo(met: Slice, claim: SliceClaim, ports: SlicePorts): Promise<SliceEnd> {
  if (met.try > claim.try || isWithdrawn(met)) return { kind: 'over' };
  // This delivery knows that the earlier try has ended, but the item does not show it yet.
  if (met.try < claim.try) return { kind: 'later' };
  if (met.state === 'ended') return await foundEnded(met, ports);
  const leftMs = met.atMs + ports.claimLifeMs - ports.nowMs();
  // A claim from a fast clock is respected no longer than its life.
  if (leftMs > 0) return { kind: 'later', atMs: ports.nowMs() + Math.min(leftMs, ports.claimLifeMs) };
  const { ofDead } = await ports.look(claim);
  if (ofDead.state === 'unknown') await ports.markUnknown(met.key.dispatchId);
  const slice = await ports.slices.endForTheDead(met, claim.owner, ofDead);
  return slice === undefined ? { kind: 'later' } : await toEmit(slice, ports);
}

/** The next try is awaited no longer: SQS hides a message for hours, not days, and counts receives. */
const longestWaitMs = 900_000;

/**
 * The claimant may have died before it emitted or requeued, so this delivery waits for the next try. If that is far, as
 * at the next opening (D56), or the dispatch is stopped, it emits and requeues now.
 */
async function foundEnded(met: Slice, ports: SlicePorts): Promise<SliceEnd> {
  const dueMs = dueMsOf(met) ?? 0;
  const waitMs = dueMs - ports.nowMs();
  if (waitMs > 0 && waitMs <= longestWaitMs && !ports.isStopped?.()) return { kind: 'later', atMs: dueMs };
  return await toEmit(met, ports);
}

/**
 * Reads receipts after outcome and doubt are written, and so finds those of a run that saw neither: they are told as
 * taken, not as `unknown`.
 */
async function toEmit(slice: Slice, ports: SlicePorts): Promise<SliceEnd> {
  if (!slice.outcomes.some((outcome) => outcome?.state === 'unknown')) return { kind: 'ended', slice };
  return { kind: 'ended', slice: folded(slice, await ports.proven(slice)) };
}
