import { heldLease, type Lease } from '../../aws/lease.ts';
import type { Changed } from '../../aws/versioned-item.ts';
import { clockSkewMs, type HeldLock, type LockRequest, leaseMs } from './sync-lock.ts';

/*
 * The state says whose turn it is when several contenders want the lock (D22). Every acquisition is a run, numbered by
 * its fence. Refused contenders wait, and a free lock is kept for them for 5 s after a run.
 */

/** A refused contender is remembered for this long after its last attempt. */
export const rememberedMs = 30_000;

/** A released lock is kept this long for waiting contenders. One that does not return delays the others no more. */
export const keptMs = 5_000;

/** Further contenders are refused without being remembered. */
export const maxWaiting = 20;

/** A contender that has just asked is not written again. */
const rewriteAfterMs = 1_000;

export interface Waiting {
  /** This contender first has to wait for that run. */
  readonly sinceRun: number;
  readonly askedAtMs: number;
}

export interface LockState {
  /** The latest run has it until its end. */
  readonly lease?: Lease;
  readonly fence: number;
  /** The latest run ended then; it is absent while that lasts. */
  readonly releasedAtMs?: number;
  /** Each contender that ran while another waited, and the latest holder, has its latest run. */
  readonly runs: ReadonlyMap<string, number>;
  /** These contenders were refused and have not run since. */
  readonly waiting: ReadonlyMap<string, Waiting>;
}

export const noRuns: LockState = { fence: 0, runs: new Map(), waiting: new Map() };

/** `held_already` answers a retry of the request that got the lock. */
export type LockAnswer = 'acquired' | 'held_already' | 'refused';

/** The same state object means that nothing must be written. */
export function answerTo(state: LockState, request: LockRequest): Changed<LockState, LockAnswer> {
  const held = heldLease(state.lease, request.nowMs - clockSkewMs);
  if (held?.owner === request.owner) return { state, result: 'held_already' };
  if (held === undefined && !mustWait(state, request)) return { state: run(state, request), result: 'acquired' };
  return { state: remembering(state, request, held !== undefined), result: 'refused' };
}

/**
 * Renews the lease, even an expired one. Returns the state unchanged when another holds the lock or it was released.
 */
export function renewed(state: LockState, lock: HeldLock, nowMs: number): LockState {
  return isHolder(state, lock) ? { ...state, lease: leaseOf(lock, nowMs) } : state;
}

/** Returns the state unchanged when another holds the lock or it was released before. */
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

/**
 * Tells whether the lock is kept for another contender. While one waits, each other has one run at most, so busy
 * contenders get the same number of runs, whatever their clocks.
 */
function mustWait(state: LockState, { contender, nowMs }: LockRequest): boolean {
  if (!isKept(state, nowMs)) return false;
  const waits = isWaiting(state.waiting.get(contender), nowMs);
  const latestRun = state.runs.get(contender) ?? 0;
  // A waiting contender has had no run since, so it does not block itself.
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

/** Remembers the refused contender. The same write drops contenders that stopped asking. */
function remembering(state: LockState, { contender, nowMs }: LockRequest, held: boolean): LockState {
  // The holder's further requests make it no contender for the next run.
  if (held && state.runs.get(contender) === state.fence) return state;
  const waiting = new Map([...state.waiting].filter(([, each]) => isWaiting(each, nowMs)));
  const before = waiting.get(contender);
  if (before === undefined ? waiting.size >= maxWaiting : nowMs - before.askedAtMs < rewriteAfterMs) return state;
  const { sinceRun } = before ?? { sinceRun: held ? state.fence : state.fence + 1 };
  return { ...state, waiting: waiting.set(contender, { sinceRun, askedAtMs: nowMs }) };
}

function run(state: LockState, { owner, contender, nowMs }: LockRequest): LockState {
  const { releasedAtMs = never } = state;
  // A contender that let the kept time pass has had its chance.
  const missed = ({ askedAtMs }: Waiting) => !isKept(state, nowMs) && askedAtMs <= releasedAtMs;
  const waiting = new Map(
    [...state.waiting].filter(([other, each]) => other !== contender && isWaiting(each, nowMs) && !missed(each)),
  );
  const fence = state.fence + 1;
  // Earlier runs decide nothing.
  const from = Math.min(state.fence, ...[...waiting.values()].map(({ sinceRun }) => sinceRun));
  const runs = new Map([...state.runs].filter(([, number]) => number >= from)).set(contender, fence);
  return { lease: leaseOf({ owner }, nowMs), fence, runs, waiting };
}
