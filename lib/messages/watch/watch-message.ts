import * as v from 'valibot';
import { maxDelaySeconds } from '../../aws/queue-body.ts';
import { present } from '../../keys/present.ts';
import type { JobHead } from '../job.ts';
import { JobParkedSchema } from '../job-state.ts';
import { type Lot, openingsOfAll, standingAt } from '../lots.ts';

/*
 * The messages of the watch queue: a job that somebody looks at, until nothing of it is pending (D41), until it is parked
 * no more (D46), or once, to count what it costs (D58).
 */

/** The format in which all are queued now (D47). */
export const watchVersion = 1;

const watchedJob = {
  version: v.literal(watchVersion),
  jobId: v.string(),
  clientId: v.number(),
  acceptedAtMs: v.number(),
  correlationId: v.exactOptional(v.string()),
};

export const WatchMessageSchema = v.object({
  kind: v.literal('running'),
  ...watchedJob,
  /** Partitions of claims of which nothing is pending any more. */
  final: v.array(v.number()),
});
export type WatchMessage = v.InferOutput<typeof WatchMessageSchema>;

const ParkedWatchSchema = v.object({
  kind: v.literal('parked'),
  ...watchedJob,
  /** The waiting that is watched, and no other of the same job. */
  sinceMs: v.number(),
  /** The pause of which its client was told, by when it began, and why: several waitings of one pause are told once. */
  told: v.exactOptional(v.object({ fromMs: v.number(), ...v.pick(JobParkedSchema, ['code', 'scope']).entries })),
  /** When this waiting was found ended, and no recipient had been called yet. */
  resumedMs: v.exactOptional(v.number()),
  /** When the platform was asked last how the template stands. */
  askedAtMs: v.exactOptional(v.number()),
});
export type ParkedWatch = v.InferOutput<typeof ParkedWatchSchema>;

/** The cost of a job is to be counted (D58), and not before `dueMs`. */
const CountMessageSchema = v.object({ kind: v.literal('count'), ...watchedJob, dueMs: v.number() });
export type CountMessage = v.InferOutput<typeof CountMessageSchema>;

export const QueuedWatchSchema = v.variant('kind', [WatchMessageSchema, ParkedWatchSchema, CountMessageSchema]);

export type QueuedWatch = v.InferOutput<typeof QueuedWatchSchema>;

export interface WatchQueue {
  sendLater(message: WatchMessage, delaySeconds: number): Promise<void>;
}

/** The same queue. */
export interface ParkedWatchQueue {
  sendLater(message: ParkedWatch, delaySeconds: number): Promise<void>;
}

/** The same queue. */
export interface CountQueue {
  sendLater(message: CountMessage, delaySeconds: number): Promise<void>;
}

/** For a worker that is about to park the job. */
export function parkedWatchOf(
  {
    jobId,
    clientId,
    acceptedAtMs,
    correlationId,
  }: Omit<WatchMessage, 'version' | 'kind' | 'final' | 'correlationId'> & {
    readonly correlationId?: string | undefined;
  },
  sinceMs: number,
): ParkedWatch {
  const job = { jobId, clientId, acceptedAtMs, ...present({ correlationId }) };
  return { version: watchVersion, kind: 'parked', ...job, sinceMs };
}

/** The first look at a parked job, which tells its client: by then it is mostly written that it is parked. */
export const firstParkedLookSeconds = 3;

export function watchOf({ jobId, clientId, acceptedAtMs, correlationId }: JobHead): WatchMessage {
  const job = { jobId, clientId, acceptedAtMs, ...present({ correlationId }) };
  return { version: watchVersion, kind: 'running', ...job, final: [] };
}

export function countMessageOf(
  {
    jobId,
    clientId,
    acceptedAtMs,
    correlationId,
  }: Pick<JobHead, 'jobId' | 'clientId' | 'acceptedAtMs' | 'correlationId'>,
  dueMs: number,
): CountMessage {
  const job = { jobId, clientId, acceptedAtMs, ...present({ correlationId }) };
  return { version: watchVersion, kind: 'count', ...job, dueMs };
}

const shortestWaitSeconds = 5;

/** When a job can have ended at the earliest: its last message leaves at `lastMs`, and needs a moment. */
export function firstLookSeconds(lastMs: number, nowMs: number): number {
  return Math.min(maxDelaySeconds, Math.max(0, Math.ceil((lastMs - nowMs) / 1_000)) + shortestWaitSeconds);
}

/**
 * The next look at a job that has not ended: a tenth of its age later, 5 s at least and 15 min at most. Of a send with a time of its
 * own the age is that of the opening, and while all of its lots are closed the look waits for the next one, no longer than that (D56).
 */
export function nextLookSeconds(
  { acceptedAtMs, lots }: Pick<WatchMessage, 'acceptedAtMs'> & { readonly lots?: readonly Lot[] | undefined },
  nowMs: number,
): number {
  const closed = closedSeconds(lots, nowMs);
  if (closed > 0) return closed;
  const opening = openingsOfAll(lots ?? []).findLast(([fromMs]) => fromMs <= nowMs);
  const ageMs = nowMs - Math.max(acceptedAtMs, opening?.[0] ?? 0);
  return Math.min(maxDelaySeconds, Math.max(shortestWaitSeconds, Math.ceil(ageMs / 10_000)));
}

/** Whole seconds until a job has something to do, while all of its lots are closed: 15 min at most, and 5 s at least; else 0. */
export function closedSeconds(lots: readonly Lot[] | undefined, nowMs: number): number {
  const standing = lots && standingAt(openingsOfAll(lots), nowMs);
  if (standing?.kind !== 'closed') return 0;
  return Math.min(maxDelaySeconds, Math.ceil((standing.opensAtMs - nowMs) / 1_000) + shortestWaitSeconds);
}
