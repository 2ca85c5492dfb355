import * as v from 'valibot';
import { inTheWay, LeaseSchema } from '../../aws/lease.ts';
import type { Failure } from './verdict.ts';

/*
 * How the deliveries of one client stand: its item `DELIVERY`, changed by compare-and-set. What cannot be posted at once
 * waits in the client's list (waiting-store.ts), and one run at a time, the holder of the lease, works that off.
 *
 *   change   who                                  when                                     what
 *   entered  a run with fresh events              free, not paused, nothing due waits      takes the lease, posts its own events
 *   rung     a run that put events into the list  held                                     sets `isCalled`
 *            or that a wake message started       free                                     takes the lease, works the list off
 *                                                 paused, and a wake is on its way         nothing
 *   closed   the holder, after each round         something due waits, and there is time   keeps the lease, unsets `isCalled`
 *                                                 else, and something waits                 sends a wake, then notes it and leaves
 *                                                 nothing waits                            leaves
 *
 * No call is lost: a run writes into the list first and rings then. Where it saw the lease held, the holder cannot leave
 * without seeing `isCalled`; where it saw it free, the run takes it. A holder that dies leaves a lease that ends, which counts
 * as a call, and its messages come again: as long as it may live, no other run acknowledges one of them. A double of a wake
 * finds another wake noted or nothing to do, and sends none.
 */

/** What is known of the receiver of one client, and who works on what waits for it. */
export const DeliveryStateSchema = v.object({
  /** The right to post to the client, and the ids of the queue messages that the holder has of the client. */
  lease: v.optional(v.object({ ...LeaseSchema.entries, messages: v.array(v.string()) })),
  /** Something due was put into the list, and no run has looked since. */
  isCalled: v.optional(v.boolean(), false),
  /** When the latest wake message becomes visible; 0: none is known to be on its way. */
  wakeAtMs: v.optional(v.number(), 0),
  /** Nothing is sent before. */
  pausedUntilMs: v.optional(v.number(), 0),
  consecutiveFailures: v.optional(v.number(), 0),
  /** First failure of the present run of nothing but failures. */
  failingSinceMs: v.optional(v.number()),
  lastFailureMs: v.optional(v.number()),
  lastSuccessMs: v.optional(v.number()),
  /** Posts that the holder may have under way; absent: the most there are. */
  width: v.optional(v.number()),
  /** When `width` was last changed. */
  widthAtMs: v.optional(v.number()),
});
export type DeliveryState = v.InferOutput<typeof DeliveryStateSchema>;

/** Posts that a receiver that is well has under way: 100 events a second, also where the answer takes 150 ms. */
const widest = 20;
/** A receiver that failed under a load is given twice as much again after this long without a failure. */
const widenAfterMs = 600_000;
/** How long a holder may go on starting posts, the time-out of the last one, and a margin. */
export const leaseMs = 40_000;
/** A post takes no longer than this, whatever the receiver does. */
export const postTimeoutMs = 15_000;
/** Clocks may be so far apart: a wake that is at work is no longer noted, also where its time seems to be still to come. */
const clocksApartMs = 2_000;
/** A wake may be so much later than what it is for: the queue counts whole seconds. */
const wakeLateMs = 1_000;

const firstPauseMs = 5_000;
const longestPauseMs = 300_000;
const overloadPauseMs = 60_000;
/** A whole receiver waits no longer than this for a `Retry-After`; the event that was answered with it waits all of it. */
const longestAskedPauseMs = 3_600_000;
const switchOffAfterMs = 5 * 24 * 3_600_000;
/** Failures further apart than any two attempts of the schedule are two runs: in between nothing was tried. */
const runGapMs = 2 * 24 * 3_600_000;

/** A run, unlike any other, with the messages that it has of the client. */
export interface Run {
  readonly owner: string;
  readonly messages: readonly string[];
}

/**
 * The state with the lease taken by `run`, which posts fresh events; undefined while it is held, the client is paused, or
 * something due waits, which fresh events do not overtake. A lease that is the run's own was written, and its reply lost.
 */
export function entered(state: DeliveryState, run: Run, nowMs: number): DeliveryState | undefined {
  const isFree = state.lease?.owner === run.owner || !mayWait(state, nowMs);
  return isFree && !isPaused(state, nowMs) ? { ...state, lease: leaseOf(run, nowMs) } : undefined;
}

function leaseOf({ owner, messages }: Run, nowMs: number): DeliveryState['lease'] {
  return { owner, untilMs: nowMs + leaseMs, messages: [...messages] };
}

export interface Ring {
  readonly run: Run;
  readonly nowMs: number;
  /** A wake message started the run. */
  readonly isWoken: boolean;
  /** The run has put something into the list. */
  readonly hasPut: boolean;
}

/**
 * The state with the holder called or, where the lease is free, taken by `run`, which works the list off; undefined when
 * what waits is seen without that. A run that was woken always changes a state that is held: a holder that is about to
 * note that very wake must not succeed.
 */
export function rung(state: DeliveryState, { run, nowMs, isWoken, hasPut }: Ring): DeliveryState | undefined {
  const wakeAtMs = state.wakeAtMs > nowMs + clocksApartMs ? state.wakeAtMs : 0;
  if (inTheWay(state.lease, run.owner, nowMs) !== undefined) {
    return isWoken || (hasPut && !state.isCalled) ? { ...state, isCalled: true, wakeAtMs } : undefined;
  }
  if (!isWoken && !hasPut && !mayWait(state, nowMs)) return undefined;
  const noted = isWoken ? { ...state, wakeAtMs } : state;
  if (isPaused(state, nowMs) && hasWake(noted, state.pausedUntilMs, nowMs)) return undefined;
  return { ...state, lease: leaseOf(run, nowMs), isCalled: false, wakeAtMs };
}

/** What a round of the holder has come to: its own fresh events, or a walk along the list. */
export interface Round {
  readonly delivered: boolean;
  readonly failure?: Failure | undefined;
  /** When the first of what it leaves in the list is due; undefined when it leaves nothing there. */
  readonly dueMs?: number | undefined;
}

export interface Closing {
  readonly owner: string;
  readonly nowMs: number;
  readonly round: Round;
  /** There is time for another round. */
  readonly mayGoOn: boolean;
  /** When the wake becomes visible that the holder has sent for this. */
  readonly sentMs?: number | undefined;
}

/**
 * The state after a round, with the lease kept for another one, or free; undefined where another run has taken it over. With
 * `wakeMs` it may be written only once a wake was sent for that time, and is decided again with its `sentMs`.
 */
export function closed(
  before: DeliveryState,
  { owner, nowMs, round, mayGoOn, sentMs }: Closing,
): { readonly state: DeliveryState; readonly wakeMs?: number } | undefined {
  const state = knownAfter(sentMs === undefined ? before : { ...before, wakeAtMs: sentMs }, round, nowMs);
  const { lease, ...free } = state;
  if (inTheWay(lease, owner, nowMs) !== undefined) return undefined;
  const isOwn = lease?.owner === owner;
  // A lease that is still there is that of a run that took over and died.
  const isNews = state.isCalled || (lease !== undefined && !isOwn);
  const dueMs = isNews ? nowMs : round.dueMs;
  if (dueMs === undefined) return { state: free };
  const isDue = dueMs <= nowMs;
  if (isDue && isOwn && mayGoOn && !isPaused(state, nowMs)) return { state: { ...state, isCalled: false } };
  const wakeMs = Math.max(dueMs, state.pausedUntilMs, nowMs);
  const left = { ...free, isCalled: isDue };
  return hasWake(state, wakeMs, nowMs) ? { state: left } : { state: left, wakeMs };
}

/** What is known of the receiver after a round. */
export function knownAfter(state: DeliveryState, { delivered, failure }: Round, nowMs: number): DeliveryState {
  const known = delivered ? afterSuccess(state, nowMs) : state;
  return failure === undefined ? known : afterFailure(known, failure, nowMs);
}

/** Those messages of a run that the holder has, too: should it die, they are all that brings a run for what waits. */
export function keptFor({ lease }: DeliveryState, { owner, messages }: Run, nowMs: number): readonly string[] {
  const other = inTheWay(lease, owner, nowMs);
  return messages.filter((id) => other?.messages.includes(id));
}

export function isPaused({ pausedUntilMs }: DeliveryState, nowMs: number): boolean {
  return pausedUntilMs > nowMs;
}

/** Whether something due may wait. Where a lease is still there its holder is at work on it, or has died. */
function mayWait({ isCalled, lease, wakeAtMs }: DeliveryState, nowMs: number): boolean {
  return isCalled || lease !== undefined || (wakeAtMs !== 0 && wakeAtMs <= nowMs);
}

/** Whether a wake is on its way that is early enough. One whose time is over is not believed: it may be a dead letter. */
function hasWake({ wakeAtMs }: DeliveryState, atMs: number, nowMs: number): boolean {
  return wakeAtMs > nowMs && wakeAtMs <= atMs + wakeLateMs;
}

/** Posts that the holder may have under way, once the receiver is known to answer. */
export function widthOf({ width = widest }: DeliveryState): number {
  return width;
}

/** Whether the first post must end before there is a second: the receiver has failed, or nothing is known of it. */
export function needsProbe({ consecutiveFailures, lastSuccessMs }: DeliveryState): boolean {
  return consecutiveFailures > 0 || lastSuccessMs === undefined;
}

/** Ends the pause. A width that was taken back is given again in steps. */
export function afterSuccess(state: DeliveryState, nowMs: number): DeliveryState {
  const { failingSinceMs: _since, lastFailureMs: _last, ...rest } = state;
  const well = { ...rest, pausedUntilMs: 0, consecutiveFailures: 0, lastSuccessMs: nowMs };
  const { width, widthAtMs = 0 } = state;
  if (width === undefined || nowMs - widthAtMs < widenAfterMs) return well;
  return { ...well, width: Math.min(widest, 2 * width), widthAtMs: nowMs };
}

/**
 * Pauses the client: 5 s, doubling with each failure in a row to 5 min, a minute when overloaded, or as it asked up to an hour.
 * What failed at once is one failure. From then on it gets half as many posts at a time: it may be that it cannot take more.
 */
export function afterFailure(state: DeliveryState, failure: Failure, nowMs: number): DeliveryState {
  const goesOn = state.lastFailureMs !== undefined && nowMs - state.lastFailureMs <= runGapMs;
  const pauseMs = Math.max(
    Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(20, state.consecutiveFailures)),
    failure.overloaded ? overloadPauseMs : 0,
    Math.min(longestAskedPauseMs, failure.retryAfterMs ?? 0),
  );
  return {
    ...state,
    consecutiveFailures: state.consecutiveFailures + 1,
    failingSinceMs: (goesOn ? state.failingSinceMs : undefined) ?? nowMs,
    lastFailureMs: nowMs,
    pausedUntilMs: nowMs + pauseMs,
    ...(needsProbe(state) ? {} : { width: Math.max(1, Math.floor(widthOf(state) / 2)), widthAtMs: nowMs }),
  };
}

/** Five days of nothing but failures. */
export function isHopeless({ failingSinceMs }: DeliveryState, nowMs: number): boolean {
  return failingSinceMs !== undefined && nowMs - failingSinceMs >= switchOffAfterMs;
}
