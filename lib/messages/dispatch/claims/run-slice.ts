import type { ChunkRecipient } from '../../chunk.ts';
import { settleProven } from './settle-proven.ts';
import {
  dueMsOf,
  isWithdrawn,
  type Outcome,
  type Outcomes,
  openPlaces,
  provenByReceipt,
  type Slice,
  type SliceClaim,
} from './slice.ts';
import type { Slices } from './slice-store.ts';

/** A try of a slice that a run is to make: its claim, and by the place those whom it may call. */
export interface SliceTry {
  readonly claim: SliceClaim;
  readonly recipients: ReadonlyMap<number, ChunkRecipient>;
}

/** What is known of a slice after its claim and before any call, or when its claimant is found dead; read strongly. */
export interface SliceLook {
  /** For a claimant alone: how all end that are not called, their job was stopped, or waits. Undefined: they may be called. Never throws. */
  readonly heldBack: () => Promise<Outcome | undefined>;
  /** Of a later try: places of which a receipt says that the platform took the message (D39). */
  readonly proven: ReadonlySet<number>;
  /** Places whose person is not to be called whatever becomes of the job, and how they end. */
  readonly barred: ReadonlyMap<number, Outcome>;
  /** How all end whose claimant died before it wrote an end: `unknown`, or as the job was stopped where that is certain. */
  readonly ofDead: Outcome;
}

export interface SlicePorts {
  readonly slices: Slices;
  /** What stands now that the slice is claimed, by this run or by one that is dead. */
  readonly look: (claim: SliceClaim) => Promise<SliceLook>;
  /** From now on receipts of the job are compared with its slices; may be repeated. */
  readonly markDoubt: (jobId: string) => Promise<void>;
  /** Places of which there are receipts, read strongly. */
  readonly proven: (claim: Pick<SliceClaim, 'key'>) => Promise<ReadonlySet<number>>;
  /** Calls one recipient in its time, or not any more. Never throws. */
  readonly call: (recipient: ChunkRecipient) => Promise<Outcome>;
  readonly nowMs: () => number;
  /** Waits before a write is repeated that has failed so often; false when no time is left for another try. */
  readonly mayRepeat: (times: number) => Promise<boolean>;
  /** From this age on the owner of a claim is dead. */
  readonly claimLifeMs: number;
  /** When a try is to be repeated that came to nothing before any call. */
  readonly retryMs: () => number;
}

/** How a try of a slice ends for the delivery that asked for it. */
export type SliceEnd =
  /** It stands so, and is to be told; what is `again` is due then. */
  | { readonly kind: 'ended'; readonly slice: Slice }
  /** Another run has gone on with it, and this try was told before; or the job was taken back. */
  | { readonly kind: 'over' }
  /** The delivery is to come again: not before that time, where one is known. */
  | { readonly kind: 'later'; readonly atMs?: number };

/**
 * Makes one try of a slice, or finds out what became of it. Whom the platform took, or may have taken, is never called again
 * (R13, D29), nor whom a receipt proves taken (D39). Throws when the store cannot be reached; the delivery is to come again then.
 */
export async function runSlice({ claim, recipients }: SliceTry, ports: SlicePorts): Promise<SliceEnd> {
  const taken = await ports.slices.claim(claim).catch(() => undefined);
  if (taken === undefined) return await giveUp(claim, recipients.keys(), ports);
  if (taken.kind === 'met') return await yieldTo(taken.slice, claim, ports);

  const covered = openPlaces(taken.slice);
  const look = await ports.look(claim).catch(() => undefined);
  if (look === undefined) return await giveUp(claim, covered, ports);
  const known = { ...look, heldBack: await look.heldBack() };
  const outcomes = new Map<number, Outcome>();
  await Promise.all(
    covered.map(async (place) => {
      outcomes.set(place, await outcomeAt(place, recipients.get(place), known, ports));
    }),
  );
  return await endedBy(taken.slice, outcomes, ports);
}

async function outcomeAt(
  place: number,
  recipient: ChunkRecipient | undefined,
  { heldBack, proven, barred }: Pick<SliceLook, 'proven' | 'barred'> & { readonly heldBack: Outcome | undefined },
  ports: SlicePorts,
): Promise<Outcome> {
  if (proven.has(place)) return provenByReceipt;
  // Whom the delivery does not carry waits for one that does.
  if (recipient === undefined) return { state: 'again', dueMs: ports.retryMs() };
  // A stop of the job comes first, as reports tell it. Who is barred does not wait for a hold: the last of it would wait for a
  // question that none may ask.
  if (heldBack !== undefined && heldBack.state !== 'again') return heldBack;
  return barred.get(place) ?? heldBack ?? (await ports.call(recipient));
}

/** Records what the calls came to. */
async function endedBy(own: Slice, outcomes: ReadonlyMap<number, Outcome>, ports: SlicePorts): Promise<SliceEnd> {
  if ([...outcomes.values()].some(({ state }) => state === 'unknown')) {
    await persistently(() => ports.markDoubt(own.key.jobId), ports);
  }
  const slice = await persistently(() => ports.slices.end(own, outcomes), ports);
  return slice === undefined ? { kind: 'later' } : await toTell(slice, ports);
}

/** No recipient was called: whether the claim was written does not matter. */
async function giveUp(claim: SliceClaim, places: Iterable<number>, ports: SlicePorts): Promise<SliceEnd> {
  const again: Outcome = { state: 'again', dueMs: ports.retryMs() };
  const outcomes: Outcomes = new Map([...places].map((place) => [place, again]));
  const slice = await persistently(() => ports.slices.endUncalled(claim, outcomes), ports);
  return slice === undefined ? { kind: 'later' } : await toTell(slice, ports);
}

/** What is known here alone is lost with the run that cannot write it. */
async function persistently<T>(write: () => Promise<T>, ports: SlicePorts): Promise<T> {
  for (let times = 1; ; times += 1) {
    try {
      return await write();
    } catch (error) {
      if (!(await ports.mayRepeat(times))) throw error;
    }
  }
}

/** What a delivery does about a try that another has claimed. */
async function yieldTo(met: Slice, claim: SliceClaim, ports: SlicePorts): Promise<SliceEnd> {
  if (met.try > claim.try || isWithdrawn(met)) return { kind: 'over' };
  // The try before has not ended, as far as this delivery was told: it has.
  if (met.try < claim.try) return { kind: 'later' };
  if (met.state === 'ended') return await foundEnded(met, ports);
  const leftMs = met.atMs + ports.claimLifeMs - ports.nowMs();
  // A claim of a clock that goes before this one is respected for no longer than its life.
  if (leftMs > 0) return { kind: 'later', atMs: ports.nowMs() + Math.min(leftMs, ports.claimLifeMs) };
  const { ofDead } = await ports.look(claim);
  if (ofDead.state === 'unknown') await ports.markDoubt(met.key.jobId);
  const slice = await ports.slices.endForTheDead(met, claim.owner, ofDead);
  return slice === undefined ? { kind: 'later' } : await toTell(slice, ports);
}

/** A delivery waits no longer than this for its next try: a queue hides one for hours, not days, and counts how often it came. */
const longestWaitMs = 900_000;

/**
 * Its claimant may have died before it told, or queued the next try: that is due then, and not before. A try that is due much
 * later, as at the next opening of its lot (D56), is told and queued now.
 */
async function foundEnded(met: Slice, ports: SlicePorts): Promise<SliceEnd> {
  const dueMs = dueMsOf(met) ?? 0;
  const waitMs = dueMs - ports.nowMs();
  if (waitMs > 0 && waitMs <= longestWaitMs) return { kind: 'later', atMs: dueMs };
  return await toTell(met, ports);
}

/**
 * Looks for receipts before `unknown` is told, and after it was written and the doubt marked: a run of receipts that has seen
 * neither is seen here.
 */
async function toTell(slice: Slice, ports: SlicePorts): Promise<SliceEnd> {
  if (!slice.outcomes.some((outcome) => outcome?.state === 'unknown')) return { kind: 'ended', slice };
  const settled = await settleProven(slice, await ports.proven(slice), ports);
  return settled === undefined ? { kind: 'later' } : { kind: 'ended', slice: settled };
}
