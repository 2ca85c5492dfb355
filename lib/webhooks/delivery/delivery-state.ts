import * as v from 'valibot';
import { blockingLease, LeaseSchema } from '../../aws/lease.ts';
import type { Failure } from './post-result.ts';

/**
 * The delivery state of one client changes by compare-and-set. Events that cannot be posted at once wait in its list
 * (backlog-store.ts). One run at a time, the lease's holder, works the list off.
 */

export const DeliveryStateSchema = v.object({
  /** The lease is the right to post to the client. It names the client's queue messages that the holder has. */
  lease: v.optional(v.object({ ...LeaseSchema.entries, messages: v.array(v.string()) })),
  /** A run has put something due into the list, and the holder has not looked since. */
  isCalled: v.optional(v.boolean(), false),
  /** The latest wake message becomes visible then; 0 means that none is known to be under way. */
  wakeAtMs: v.optional(v.number(), 0),
  /** No post starts before this time, unless the client has written its configuration since. */
  pausedUntilMs: v.optional(v.number(), 0),
  /** A run has found this version of the configuration. */
  seenVersion: v.optional(v.number(), 0),
  /** Under this version a post has failed, or all that waited was tried. */
  triedVersion: v.optional(v.number(), 0),
  consecutiveFailures: v.optional(v.number(), 0),
  /** The present run of failures started then. */
  failingSinceMs: v.optional(v.number()),
  /** The client was told last of the run of failures that started then (failing-event.ts). */
  notifiedFailingSinceMs: v.optional(v.number()),
  lastFailureMs: v.optional(v.number()),
  lastSuccessMs: v.optional(v.number()),
  /** The holder makes at most this many posts at a time; absent means the maximum. */
  width: v.optional(v.number()),
  widthAtMs: v.optional(v.number()),
});
export type DeliveryState = v.InferOutput<typeof DeliveryStateSchema>;

/** A healthy receiver gets this many posts at a time: 100 events a second, even if an answer takes 150 ms. */
const widest = 20;
/** After this long without a failure, an overloaded receiver's width doubles. */
const widenAfterMs = 600_000;
/** A lease covers the time in which a holder starts posts, the time-out of the last one, and a margin. */
export const leaseMs = 40_000;
export const postTimeoutMs = 15_000;
/** Clocks differ: a wake at work counts as arrived, even if its time still lies ahead. */
const clocksApartMs = 2_000;
/** SQS delays are whole seconds, so a wake may be this late. */
const wakeLateMs = 1_000;

const firstPauseMs = 5_000;
const longestPauseMs = 300_000;
const overloadPauseMs = 60_000;
/** A `Retry-After` pauses the receiver no longer than this; only the event that got it waits longer. */
const longestAskedPauseMs = 3_600_000;
const switchOffAfterMs = 5 * 24 * 3_600_000;
/** A restart or a deployment of the receiver is shorter, so its client is not told of it. */
export const failingNotifiedAfterMs = 15 * 60_000;
const failingNotifiedAfter = 3;
/** A gap longer than any wait between attempts separates two runs of failures: nothing was tried in it. */
const runGapMs = 2 * 24 * 3_600_000;

export interface Run {
  readonly owner: string;
  readonly messages: readonly string[];
}

/**
 * A run with fresh events takes the lease. Undefined while the lease is held, the client is paused, or due events wait,
 * which must go first. The run's own lease means that its write's reply was lost.
 */
export function leaseForFresh(state: DeliveryState, run: Run, nowMs: number): DeliveryState | undefined {
  const isFree = state.lease?.owner === run.owner || !mayWait(state, nowMs);
  return isFree && !isPaused(state, nowMs) ? { ...state, lease: leaseOf(run, nowMs) } : undefined;
}

function leaseOf({ owner, messages }: Run, nowMs: number): DeliveryState['lease'] {
  return { owner, untilMs: nowMs + leaseMs, messages: [...messages] };
}

export interface Signal {
  readonly run: Run;
  readonly nowMs: number;
  readonly isWoken: boolean;
  /** The run has put an event into the list. */
  readonly hasPut: boolean;
  /** The run has found this version of the configuration; undefined without a receiver. */
  readonly version?: number | undefined;
}

/**
 * Takes a free lease, or calls the holder; undefined when neither is needed. A run lists first and rings then, so the
 * holder cannot miss it. A woken run changes even a held state; the holder cannot note that wake.
 */
export function leaseOrSignal(
  before: DeliveryState,
  { run, nowMs, isWoken, hasPut, version = 0 }: Signal,
): DeliveryState | undefined {
  // A PUT wakes a run while the holder may be posting under the version before it.
  const isNew = version > Math.max(before.seenVersion, before.triedVersion);
  const state = isNew ? { ...before, seenVersion: version } : before;
  const wakeAtMs = state.wakeAtMs > nowMs + clocksApartMs ? state.wakeAtMs : 0;
  if (blockingLease(state.lease, run.owner, nowMs) !== undefined) {
    return isWoken || isNew || (hasPut && !state.isCalled) ? { ...state, isCalled: true, wakeAtMs } : undefined;
  }
  if (!isWoken && !hasPut && !mayWait(state, nowMs)) return undefined;
  const noted = isWoken ? { ...state, wakeAtMs } : state;
  if (isPaused(state, nowMs) && hasWake(noted, state.pausedUntilMs, nowMs)) return undefined;
  return { ...state, lease: leaseOf(run, nowMs), isCalled: false, wakeAtMs };
}

export interface Round {
  readonly delivered: boolean;
  readonly failure?: Failure | undefined;
  /** The first event that is left in the list is due then; undefined when nothing is left. */
  readonly dueMs?: number | undefined;
  /** Under this version of the configuration a post has failed, or all that waited was tried. */
  readonly triedVersion?: number | undefined;
  /** This round has stored the event about the run of failures that started then. */
  readonly notifiedFailingSinceMs?: number;
}

export interface RoundEnd {
  readonly owner: string;
  readonly nowMs: number;
  readonly round: Round;
  /** True says that there is time for another round. */
  readonly mayGoOn: boolean;
  /** The wake that the holder has sent becomes visible then. */
  readonly sentMs?: number | undefined;
}

/**
 * Keeps the lease for another round, or frees it; undefined after a takeover. With `wakeMs` the caller must first send
 * a wake for that time, then decide again with `sentMs`. So waiting events always have a holder or a wake.
 */
export function roundEnded(
  before: DeliveryState,
  { owner, nowMs, round, mayGoOn, sentMs }: RoundEnd,
): { readonly state: DeliveryState; readonly wakeMs?: number } | undefined {
  const state = afterRound(sentMs === undefined ? before : { ...before, wakeAtMs: sentMs }, round, nowMs);
  const { lease, ...free } = state;
  if (blockingLease(lease, owner, nowMs) !== undefined) return undefined;
  const isOwn = lease?.owner === owner;
  // A remaining lease belongs to a run that took over and died.
  const isNews = state.isCalled || isRestarted(state) || (lease !== undefined && !isOwn);
  const dueMs = isNews ? nowMs : round.dueMs;
  if (dueMs === undefined) return { state: free };
  const isDue = dueMs <= nowMs;
  if (isDue && isOwn && mayGoOn && !isPaused(state, nowMs)) return { state: { ...state, isCalled: false } };
  const wakeMs = Math.max(dueMs, isPaused(state, nowMs) ? state.pausedUntilMs : nowMs);
  const left = { ...free, isCalled: isDue };
  return hasWake(state, wakeMs, nowMs) ? { state: left } : { state: left, wakeMs };
}

export function afterRound(
  before: DeliveryState,
  { delivered, failure, triedVersion = 0, notifiedFailingSinceMs }: Round,
  nowMs: number,
): DeliveryState {
  const state = triedVersion > before.triedVersion ? { ...before, triedVersion } : before;
  const known = delivered ? afterSuccess(state, nowMs) : state;
  if (failure === undefined) return known;
  const failing = afterFailure(known, failure, nowMs);
  return { ...failing, notifiedFailingSinceMs: notifiedFailingSinceMs ?? failing.notifiedFailingSinceMs };
}

/**
 * Returns the run's messages that the holder has as well. If the holder dies, only their redelivery starts another run.
 */
export function messagesOfHolder({ lease }: DeliveryState, { owner, messages }: Run, nowMs: number): readonly string[] {
  const other = blockingLease(lease, owner, nowMs);
  return messages.filter((id) => other?.messages.includes(id));
}

export function isPaused(state: DeliveryState, nowMs: number): boolean {
  return state.pausedUntilMs > nowMs && !isRestarted(state);
}

/** Tells whether a configuration was written that nothing has failed under: all that waits is tried at once (D33). */
export function isRestarted({ seenVersion, triedVersion }: DeliveryState): boolean {
  return seenVersion > triedVersion;
}

/** Tells whether due events may wait. A remaining lease means that its holder works on them, or has died. */
function mayWait({ isCalled, lease, wakeAtMs }: DeliveryState, nowMs: number): boolean {
  return isCalled || lease !== undefined || (wakeAtMs !== 0 && wakeAtMs <= nowMs);
}

/**
 * Tells whether an early enough wake is under way. A wake past its time does not count, because it may be a dead
 * letter.
 */
function hasWake({ wakeAtMs }: DeliveryState, atMs: number, nowMs: number): boolean {
  return wakeAtMs > nowMs && wakeAtMs <= atMs + wakeLateMs;
}

/** Returns how many posts go out at a time once the receiver is known to answer. */
export function widthOf({ width = widest }: DeliveryState): number {
  return width;
}

/** Tells whether a single first post must probe the receiver, which has failed or is unknown. */
export function needsProbe({ consecutiveFailures, lastSuccessMs }: DeliveryState): boolean {
  return consecutiveFailures > 0 || lastSuccessMs === undefined;
}

/** Ends the pause. A reduced width grows again in steps. */
export function afterSuccess(state: DeliveryState, nowMs: number): DeliveryState {
  const { failingSinceMs: _since, lastFailureMs: _last, ...rest } = state;
  const well = { ...rest, pausedUntilMs: 0, consecutiveFailures: 0, lastSuccessMs: nowMs };
  const { width, widthAtMs = 0 } = state;
  if (width === undefined || nowMs - widthAtMs < widenAfterMs) return well;
  return { ...well, width: Math.min(widest, 2 * width), widthAtMs: nowMs };
}

/**
 * Pauses the client: a backoff from 5 s to 5 min, a minute when overloaded, or its `Retry-After` up to an hour.
 * Concurrent failures count once. The width halves, because the receiver may be overloaded.
 */
export function afterFailure(state: DeliveryState, failure: Failure, nowMs: number): DeliveryState {
  const goesOn = state.lastFailureMs !== undefined && nowMs - state.lastFailureMs <= runGapMs;
  const before = goesOn ? state.consecutiveFailures : 0;
  const pauseMs = Math.max(
    Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(20, before)),
    failure.overloaded ? overloadPauseMs : 0,
    Math.min(longestAskedPauseMs, failure.retryAfterMs ?? 0),
  );
  return {
    ...state,
    consecutiveFailures: before + 1,
    failingSinceMs: (goesOn ? state.failingSinceMs : undefined) ?? nowMs,
    lastFailureMs: nowMs,
    pausedUntilMs: nowMs + pauseMs,
    ...(needsProbe(state) ? {} : { width: Math.max(1, Math.floor(widthOf(state) / 2)), widthAtMs: nowMs }),
  };
}

/** Tells whether only failures came for five days. */
export function isHopeless({ failingSinceMs }: DeliveryState, nowMs: number): boolean {
  return failingSinceMs !== undefined && nowMs - failingSinceMs >= switchOffAfterMs;
}

/**
 * Returns the start of a run of failures that the client has to be told of: it has lasted a while, has three failures
 * or more, and is not noted as told. Returns undefined for any other (D34).
 */
export function unnotifiedFailingSinceMs(
  { failingSinceMs, notifiedFailingSinceMs, consecutiveFailures }: DeliveryState,
  nowMs: number,
): number | undefined {
  if (failingSinceMs === undefined || failingSinceMs === notifiedFailingSinceMs) return undefined;
  const isLong = consecutiveFailures >= failingNotifiedAfter && nowMs - failingSinceMs >= failingNotifiedAfterMs;
  return isLong ? failingSinceMs : undefined;
}
