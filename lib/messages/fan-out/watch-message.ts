import * as v from 'valibot';
import { present } from '../../keys/present.ts';
import type { JobHead } from '../job.ts';
import { maxDelaySeconds } from '../pace/pacing.ts';

/** A job that somebody looks at until nothing of it is pending (D41): a message of the watch queue, which carries a version (D47). */
export const WatchMessageSchema = v.object({
  version: v.literal(1),
  jobId: v.string(),
  clientId: v.number(),
  acceptedAtMs: v.number(),
  correlationId: v.exactOptional(v.string()),
  /** Partitions of claims of which nothing is pending any more. */
  final: v.array(v.number()),
});
export type WatchMessage = v.InferOutput<typeof WatchMessageSchema>;

export interface WatchQueue {
  sendLater(message: WatchMessage, delaySeconds: number): Promise<void>;
}

export function watchOf({ jobId, clientId, acceptedAtMs, correlationId }: JobHead): WatchMessage {
  return { version: 1, jobId, clientId, acceptedAtMs, final: [], ...present({ correlationId }) };
}

const shortestWaitSeconds = 5;

/** When a job can have ended at the earliest: its last message leaves at `lastMs`, and needs a moment. */
export function firstLookSeconds(lastMs: number, nowMs: number): number {
  return Math.min(maxDelaySeconds, Math.max(0, Math.ceil((lastMs - nowMs) / 1_000)) + shortestWaitSeconds);
}

/** The next look at a job that has not ended: a tenth of its age later, 5 s at least and 15 min at most. */
export function nextLookSeconds({ acceptedAtMs }: Pick<WatchMessage, 'acceptedAtMs'>, nowMs: number): number {
  return Math.min(maxDelaySeconds, Math.max(shortestWaitSeconds, Math.ceil((nowMs - acceptedAtMs) / 10_000)));
}
