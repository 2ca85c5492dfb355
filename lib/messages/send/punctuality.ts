import { count } from '../../observe/metrics.ts';
import type { ChunkRecipient, QueuedChunk } from '../dispatch/chunk.ts';
import { type Lot, lotAt } from '../dispatch/lots.ts';
import type { Ended } from './post-message.ts';

/*
 * The objective of delivery: without holds a message leaves within twice its planned time, that of its first reserved
 * slot, from acceptance or from its opening (D56).
 */

/** Nothing is late within this time: slots move by seconds. */
const allowedMs = 60_000;

/**
 * Tells whether a planned message left late. Returns undefined when its chunk waited for a hold or outage (which have
 * alarms), or the plan lies in another opening.
 */
export function isLate(
  { plannedMs, acceptedAtMs, lots }: Pick<QueuedChunk, 'plannedMs' | 'acceptedAtMs'> & { lots?: readonly Lot[] },
  { index }: Pick<ChunkRecipient, 'index'>,
  leftMs: number,
): boolean | undefined {
  if (plannedMs === undefined) return undefined;
  const opening = lots && lotAt(lots, index).open.find(([fromMs, untilMs]) => fromMs <= leftMs && leftMs < untilMs);
  if (lots !== undefined && (opening === undefined || plannedMs < opening[0])) return undefined;
  const fromMs = Math.max(acceptedAtMs, opening?.[0] ?? 0);
  return leftMs - plannedMs > Math.max(allowedMs, plannedMs - fromMs);
}

/** Counts messages that left or became too old. A refused credential or a pair-rate wait excludes a message. */
export function countPunctuality(chunk: QueuedChunk, recipient: ChunkRecipient, ended: Ended, nowMs: number): void {
  const { outcome, result } = ended;
  const { credential, pair } = recipient.attempts ?? {};
  if (outcome.state === 'again' || credential !== undefined || pair !== undefined) return;
  const isTooOld = outcome.state === 'expired' || ('code' in outcome && outcome.code === 'retry_deadline');
  if (result === undefined && !isTooOld) return;
  const late = isLate(chunk, recipient, nowMs);
  if (late === undefined) return;
  count('MessagesDue');
  if (late || isTooOld) count('MessagesLate');
}

/** Removes the plan: a chunk that waited for a hold or outage is not judged by it. */
export function withoutPlan({ plannedMs: _plan, ...chunk }: QueuedChunk): QueuedChunk {
  return chunk;
}
