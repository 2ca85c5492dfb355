import { heldLease, type Lease } from '../../aws/lease.ts';
import type { Changed } from '../../aws/versioned-item.ts';
import { clockSkewMs, type HeldLock, type LockRequest, leaseMs } from './sync-lock.ts';

/*
 * Whose turn it is when several want the synchronization lock (D22). Every acquisition is a run, numbered by its fence. Who is
 * refused is remembered; a run that ends leaves the lock to those who wait, for a short time:
 *
 *   free ──acquire──> held ──release──> kept for those who wait ──5 s, or one of them──> free / held
 *                       └──lease ends (the holder has died)──> free
 *
 * Acquiring and releasing is the holder's. Being remembered is everybody's who is refused, and ends with a run of one's own,
 * after 30 s without asking, or when one lets the 5 s pass. While somebody waits, each other has one run at the most: so those
 * who keep asking get the same number of runs, and no clock decides who is first.
 */

/** Who was refused is remembered for so long after having asked. */
export const rememberedMs = 30_000;

/** For so long after a run the lock is kept for those who wait. Who does not come back costs the others no more. */
export const keptMs = 5_000;

/** Everybody else is refused all the same, and comes after. */
export const maxWaiting = 20;

/** Who has just asked is not written down again. */
const rewriteAfterMs = 1_000;

export interface Waiting {
  /** The first run that others had, or will have, while this one waits. */
  readonly sinceRun: number;
  readonly askedAtMs: number;
}

/** The lock as it is stored. */
export interface LockState {
  /** Of the latest run, until it ends. */
  readonly lease?: Lease;
  /** The number of the latest run. */
  readonly fence: number;
  /** When the latest run ended; absent while it lasts. */
  readonly releasedAtMs?: number;
  /** By contender, their latest run: of those who have had one while somebody waited, and of the latest holder. */
  readonly runs: ReadonlyMap<string, number>;
  /** By contender, who was refused and has not had a run since. */
  readonly waiting: ReadonlyMap<string, Waiting>;
}

/** Before the first run. */
export const noRuns: LockState = { fence: 0, runs: new Map(), waiting: new Map() };

/** `held_already`: a repetition of the request that got the lock. */
export type LockAnswer = 'acquired' | 'held_already' | 'refused';

/** Answers a request: the lock as it is then, which is the same where nothing is to be written down. */
export function answerTo(state: LockState, request: LockRequest): Changed<LockState, LockAnswer> {
  const held = heldLease(state.lease, request.nowMs - clockSkewMs);
  if (held?.owner === request.owner) return { state, result: 'held_already' };
  if (held === undefined && !mustWait(state, request)) return { state: run(state, request), result: 'acquired' };
  return { state: remembering(state, request, held !== undefined), result: 'refused' };
}

/** The lock with the lease of its holder renewed, also when that was over; the same when it is another's, or given back. */
export function renewed(state: LockState, lock: HeldLock, nowMs: number): LockState {
  return isHolder(state, lock) ? { ...state, lease: leaseOf(lock, nowMs) } : state;
}

/** The lock given back by its holder; the same when it is another's, or given back already. */
export function released(state: LockState, lock: HeldLock, nowMs: number): LockState {
  if (!isHolder(state, lock)) return state;
  const { lease: _over, ...free } = state;
  return { ...free, releasedAtMs: nowMs };
}

function isHolder({ fence, lease }: LockState, lock: HeldLock): boolean {
  return fence === lock.fence && lease?.owner === lock.owner;
}

function leaseOf({ owner }: Pick<HeldLock, 'owner'>, nowMs: number): Lease {
  return { owner, untilMs: nowMs + leaseMs };
}

const never = Number.NEGATIVE_INFINITY;

/** Whether the lock is kept for somebody else: who has waited through a run of this one, or waits while this one does not. */
function mustWait(state: LockState, { contender, nowMs }: LockRequest): boolean {
  if (!isKept(state, nowMs)) return false;
  const waits = isWaiting(state.waiting.get(contender), nowMs);
  const latestRun = state.runs.get(contender) ?? 0;
  // Who waits has had no run since, so that its own waiting is not in its way.
  return [...state.waiting.values()].some(
    (waiting) => isWaiting(waiting, nowMs) && (!waits || waiting.sinceRun <= latestRun),
  );
}

function isKept({ releasedAtMs = never }: LockState, nowMs: number): boolean {
  return nowMs < releasedAtMs + keptMs;
}

function isWaiting(waiting: Waiting | undefined, nowMs: number): boolean {
  return waiting !== undefined && nowMs <= waiting.askedAtMs + rememberedMs;
}

/** The lock with the one who is refused among those who wait. Those who have not asked for too long go in the same write. */
function remembering(state: LockState, { contender, nowMs }: LockRequest, held: boolean): LockState {
  // The holder's own further requests make it no candidate for the next run.
  if (held && state.runs.get(contender) === state.fence) return state;
  const waiting = new Map([...state.waiting].filter(([, each]) => isWaiting(each, nowMs)));
  const before = waiting.get(contender);
  if (before === undefined ? waiting.size >= maxWaiting : nowMs - before.askedAtMs < rewriteAfterMs) return state;
  const { sinceRun } = before ?? { sinceRun: held ? state.fence : state.fence + 1 };
  return { ...state, waiting: waiting.set(contender, { sinceRun, askedAtMs: nowMs }) };
}

/** The state in which the one who asks has the lock. */
function run(state: LockState, { owner, contender, nowMs }: LockRequest): LockState {
  const { releasedAtMs = never } = state;
  // Whoever has let the time pass for which the lock was kept has had the chance.
  const missed = ({ askedAtMs }: Waiting) => !isKept(state, nowMs) && askedAtMs <= releasedAtMs;
  const waiting = new Map(
    [...state.waiting].filter(([other, each]) => other !== contender && isWaiting(each, nowMs) && !missed(each)),
  );
  const fence = state.fence + 1;
  // Runs before anybody waited decide nothing.
  const from = Math.min(state.fence, ...[...waiting.values()].map(({ sinceRun }) => sinceRun));
  const runs = new Map([...state.runs].filter(([, number]) => number >= from)).set(contender, fence);
  return { lease: leaseOf({ owner }, nowMs), fence, runs, waiting };
}
