import { count } from '../../observe/metrics.ts';
import type { ChunkRecipient, QueuedChunk } from '../chunk.ts';
import { type Lot, lotAt } from '../lots.ts';
import type { Ended } from './call-recipient.ts';

/*
 * The objective of delivery: a message of a number that is not held leaves within twice its planned time. Its plan is its slot
 * as it was first reserved; the planned time counts from acceptance, or from the opening of a send with a time of its own (D56).
 */

/** Slots move, and a wait of seconds is none to speak of: nothing is late before it is so much behind its plan. */
const allowedMs = 60_000;

/**
 * Whether a message left late that was planned for then; undefined where it is not counted: its chunk has waited for a hold or
 * for the platform, which have alarms of their own (no plan is left), or the plan is in another of its openings.
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

/** Counts what has left, or has become too old to leave. Whose credential was refused, or who may not be written to yet, is not counted. */
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

/** The chunk without its plan: what has waited for a hold or an outage is not judged by it. */
export function withoutPlan({ plannedMs: _plan, ...chunk }: QueuedChunk): QueuedChunk {
  return chunk;
}
