import * as v from 'valibot';
import { maxDelaySeconds } from '../../aws/queue-body.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import { ParkingSchema } from '../dispatch/item.ts';
import { type Lot, openingStateAt, openingsOfAll } from '../dispatch/lots.ts';

/*
 * A message of the watch queue watches a dispatch until it is no longer parked (D46), or counts its cost once (D58).
 */

/** Queued watch messages carry this version (D47). */
export const watchVersion = 1;

const watchedDispatch = {
  version: v.literal(watchVersion),
  dispatchId: v.string(),
  clientId: v.number(),
  acceptedAtMs: v.number(),
  correlationId: v.optional(v.string()),
};

const ParkedWatchSchema = v.object({
  kind: v.literal('parked'),
  ...watchedDispatch,
  /** This watcher watches that waiting, no other one of the dispatch. */
  sinceMs: v.number(),
  /** The client was notified of this pause: its start and reason. Several waitings of a pause notify once. */
  told: v.optional(v.object({ fromMs: v.number(), ...v.pick(ParkingSchema, ['code', 'scope']).entries })),
  /** The waiting was found ended then, while no recipient had been called yet. */
  resumedMs: v.optional(v.number()),
  askedAtMs: v.optional(v.number()),
});
export type ParkedWatch = v.InferOutput<typeof ParkedWatchSchema>;

/** Counts the cost of a dispatch (D58), not before `dueMs`. */
const CountMessageSchema = v.object({ kind: v.literal('count'), ...watchedDispatch, dueMs: v.number() });
export type CountMessage = v.InferOutput<typeof CountMessageSchema>;

export const QueuedWatchSchema = v.variant('kind', [ParkedWatchSchema, CountMessageSchema]);

export type QueuedWatch = v.InferOutput<typeof QueuedWatchSchema>;

type Facts = Pick<DispatchHead, 'dispatchId' | 'clientId' | 'acceptedAtMs' | 'correlationId'>;

function watched({ dispatchId, clientId, acceptedAtMs, correlationId }: Facts) {
  return { version: watchVersion, dispatchId, clientId, acceptedAtMs, correlationId } as const;
}

export function parkedWatchOf(dispatch: Facts, sinceMs: number): ParkedWatch {
  return { kind: 'parked', ...watched(dispatch), sinceMs };
}

/** The first look notifies the client: by then the parking is usually written. */
export const firstParkedLookSeconds = 3;

export function countMessageOf(dispatch: Facts, dueMs: number): CountMessage {
  return { kind: 'count', ...watched(dispatch), dueMs };
}

const shortestWaitSeconds = 5;

/** Returns whole seconds until a closed dispatch opens, from 5 s to 15 min, or 0 while any lot is open. */
export function closedSeconds(lots: readonly Lot[] | undefined, nowMs: number): number {
  const standing = lots && openingStateAt(openingsOfAll(lots), nowMs);
  if (standing?.kind !== 'closed') return 0;
  return Math.min(maxDelaySeconds, Math.ceil((standing.opensAtMs - nowMs) / 1_000) + shortestWaitSeconds);
}
