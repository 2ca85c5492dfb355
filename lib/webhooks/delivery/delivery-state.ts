import * as v from 'valibot';
import type { Failure } from './verdict.ts';

/** A slot that is taken; free again at `untilMs` if its holder dies. */
const LeaseSchema = v.object({ owner: v.string(), untilMs: v.number() });

/** What is known of the receiver of one client. */
export const DeliveryStateSchema = v.object({
  leases: v.optional(v.array(LeaseSchema), []),
  /** Nothing is sent before. */
  pausedUntilMs: v.optional(v.number(), 0),
  consecutiveFailures: v.optional(v.number(), 0),
  /** First failure of the present run of nothing but failures. */
  failingSinceMs: v.optional(v.number()),
  lastFailureMs: v.optional(v.number()),
  lastSuccessMs: v.optional(v.number()),
  /** Posts that one holder may have under way; absent: the most there are. */
  width: v.optional(v.number()),
  /** When `width` was last changed. */
  widthAtMs: v.optional(v.number()),
  /** How long the last holder's posts took together. */
  turnMs: v.optional(v.number()),
});
export type DeliveryState = v.InferOutput<typeof DeliveryStateSchema>;

/** Of the function's twenty runs; a receiver that answers fast gets more of them, for a moment each. */
const slots = 2;
const fastSlots = 4;
const fastTurnMs = 1_000;
/** Posts that one holder has under way to a receiver that is well. */
const widest = 10;
/** A receiver that failed under a load is given twice as much again after this long without a failure. */
const widenAfterMs = 600_000;
/** How long a holder may go on starting posts, the time-out of the last one, and a margin. */
export const leaseMs = 40_000;
/** A post takes no longer than this, whatever the receiver does. */
export const postTimeoutMs = 15_000;
/** A receiver that failed is tried with one event; the others wait until its outcome must be known. */
const probeMs = 20_000;

const firstPauseMs = 5_000;
const longestPauseMs = 300_000;
const overloadPauseMs = 60_000;
/** A whole receiver waits no longer than this for a `Retry-After`; the event that was answered with it waits all of it. */
const longestAskedPauseMs = 3_600_000;
const switchOffAfterMs = 5 * 24 * 3_600_000;
/** Failures further apart than any two attempts of the schedule are two runs: in between nothing was tried. */
const runGapMs = 2 * 24 * 3_600_000;

/**
 * The state with a slot taken by `owner`; undefined when none is free or the client is paused. While the receiver fails,
 * taking a slot renews the pause, so that only one probe is under way.
 */
export function admitted(state: DeliveryState, owner: string, nowMs: number): DeliveryState | undefined {
  const held = heldAt(state, nowMs);
  const most = isFast(state, nowMs) ? fastSlots : slots;
  if (state.pausedUntilMs > nowMs || held.length >= most) return undefined;
  return {
    ...state,
    leases: [...held, { owner, untilMs: nowMs + leaseMs }],
    ...(state.consecutiveFailures > 0 ? { pausedUntilMs: nowMs + probeMs } : {}),
  };
}

function heldAt({ leases }: DeliveryState, nowMs: number): DeliveryState['leases'] {
  return leases.filter(({ untilMs }) => untilMs > nowMs);
}

/**
 * Whether the receiver is well, the last holder's posts ended within a second, and no holder is at it for longer now: one
 * that turns slow is not fast from that moment on, before any of its answers says so.
 */
export function isFast(state: DeliveryState, nowMs: number): boolean {
  const { turnMs = Number.POSITIVE_INFINITY } = state;
  const isAtItForLonger = ({ untilMs }: { readonly untilMs: number }) => nowMs - (untilMs - leaseMs) > fastTurnMs;
  return !needsProbe(state) && turnMs <= fastTurnMs && !heldAt(state, nowMs).some(isAtItForLonger);
}

/** Posts that a holder may have under way, once the receiver is known to answer. */
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

export function released(state: DeliveryState, owner: string): DeliveryState {
  return { ...state, leases: state.leases.filter((lease) => lease.owner !== owner) };
}

/** Five days of nothing but failures. */
export function isHopeless({ failingSinceMs }: DeliveryState, nowMs: number): boolean {
  return failingSinceMs !== undefined && nowMs - failingSinceMs >= switchOffAfterMs;
}
