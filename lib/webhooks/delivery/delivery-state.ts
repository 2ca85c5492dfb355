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
});
export type DeliveryState = v.InferOutput<typeof DeliveryStateSchema>;

const slots = 2;
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
  const held = state.leases.filter(({ untilMs }) => untilMs > nowMs);
  if (state.pausedUntilMs > nowMs || held.length >= slots) return undefined;
  return {
    ...state,
    leases: [...held, { owner, untilMs: nowMs + leaseMs }],
    ...(state.consecutiveFailures > 0 ? { pausedUntilMs: nowMs + probeMs } : {}),
  };
}

export function afterSuccess(state: DeliveryState, nowMs: number): DeliveryState {
  const { failingSinceMs: _since, lastFailureMs: _last, ...rest } = state;
  return { ...rest, pausedUntilMs: 0, consecutiveFailures: 0, lastSuccessMs: nowMs };
}

/** Pauses the client: 5 s, doubling with each failure in a row to 5 min, a minute when overloaded, or as it asked up to an hour. */
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
  };
}

export function released(state: DeliveryState, owner: string): DeliveryState {
  return { ...state, leases: state.leases.filter((lease) => lease.owner !== owner) };
}

/** Five days of nothing but failures. */
export function isHopeless({ failingSinceMs }: DeliveryState, nowMs: number): boolean {
  return failingSinceMs !== undefined && nowMs - failingSinceMs >= switchOffAfterMs;
}
