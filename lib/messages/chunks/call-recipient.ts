import { present } from '../../keys/present.ts';
import { count } from '../../observe/metrics.ts';
import type { ChunkRecipient, QueuedChunk } from '../chunk.ts';
import { lateness, retryDeadlineMs, sendBudgetMs } from '../dispatch/deadlines.ts';
import { type Verdict, verdictOn } from '../dispatch/verdict.ts';
import { dispatchIdOf } from '../job.ts';
import type { JobHolds } from '../job-holds.ts';
import { byJobState, type JobState } from '../job-state.ts';
import type { PaceLearning } from '../pace/learned-pace.ts';
import { retryDelaySeconds } from '../pace/pacing.ts';
import type { Outcome } from '../slices/slice.ts';
import type { ChunkWorkerPorts } from './chunk-ports.ts';
import { isTrusted, missedAfterMs, type SeenSchedule, type Slot, slotTimeMs } from './chunk-time.ts';

/** What the chunks of one run share, beside the ports. */
export interface RunPorts extends ChunkWorkerPorts {
  readonly learning: PaceLearning;
  readonly holds: JobHolds;
}

/** How the job of a slice stood when it was last read, after the claim, and the number, which may have been read before it. */
export interface SeenStanding extends SeenSchedule {
  readonly job: JobState;
}

/** One recipient of a claimed slice. */
export interface Called {
  readonly chunk: QueuedChunk;
  readonly recipient: ChunkRecipient;
  readonly slot: Slot | undefined;
  /** As it was read last; read once more for a slot that others could have moved since. */
  readonly standing: () => SeenStanding;
  readonly lookAgain: () => Promise<void>;
}

/** What a call has come to, and what the next one is to know. */
export interface Ended {
  readonly outcome: Outcome;
  /** Tries that ended provably unsent, with this one. */
  readonly attempts?: ChunkRecipient['attempts'];
  /** Its slot had passed. */
  readonly missed?: true;
}

/** A recipient whose slot has been moved further than this is left to its next try: the ten slots of the slowest number are less. */
const longestWaitMs = 12_000;

/** So long before a slot its schedule is read again where it could not be trusted before. */
const lookAgainMs = 400;

/**
 * Calls one recipient in the millisecond of its slot, or says why not (D27, D43, D46, D53). Whatever may have been taken is
 * `unknown`; only what provably was not is `again` (R13). Never throws.
 */
export async function callRecipient(called: Called, ports: RunPorts): Promise<Ended> {
  const { chunk, recipient } = called;
  const { request } = recipient;
  if (request === undefined) return { outcome: { state: 'failed', code: 'not_composable' } };
  const notYet = await untilItsTurn(called, ports);
  if (notYet !== undefined) return notYet;
  try {
    const { phoneNumberId, path, credential } = chunk;
    const {
      platformMessageId,
      messageStatus: status = 'accepted',
      usagePercent = 0,
    } = await ports.send({
      ...{ phoneNumberId, path, credential },
      request,
    });
    if (usagePercent >= 100) await ports.learning.slowDown(chunk);
    const dispatchId = dispatchIdOf({ jobId: chunk.jobId, index: recipient.index });
    if (heldStatuses.has(status)) {
      ports.log('dispatch.held', { dispatchId, code: status });
      return { outcome: { state: 'sent', platformMessageId, held: status } };
    }
    // The platform took the message, whatever it calls that.
    if (status !== 'accepted') ports.log('dispatch.status_unknown', { dispatchId, code: status });
    ports.log('dispatch.sent', { dispatchId });
    if (chunk.receiptsExpected) count('ReceiptsExpected');
    return { outcome: { state: 'sent', platformMessageId } };
  } catch (error) {
    return await afterFailure(error, called, ports);
  }
}

/** What the platform calls a message that it took and holds back (platform reference, 2.10 and 4.1; D39). */
const heldStatuses: ReadonlySet<string> = new Set(['held_for_quality_assessment', 'paused']);

/** Waits for the slot. Undefined: it has come. */
async function untilItsTurn(called: Called, ports: RunPorts): Promise<Ended | undefined> {
  const { chunk, recipient, slot } = called;
  const again = (dueMs: number): Ended => ({ outcome: { state: 'again', dueMs } });
  for (;;) {
    const { schedule, job, readAtMs } = called.standing();
    const nowMs = ports.nowMs();
    const heldBack = heldBackBy(job, chunk, nowMs) ?? lateOf(chunk, recipient, nowMs);
    if (heldBack !== undefined) return { outcome: heldBack };
    const { notBeforeMs = 0 } = recipient;
    const slotMs = slot === undefined ? undefined : slotTimeMs(slot, schedule);
    if (slotMs === undefined || slotMs < notBeforeMs) {
      return notBeforeMs > nowMs ? again(notBeforeMs) : { ...again(nowMs), missed: true };
    }
    if (slotMs - nowMs > longestWaitMs || ports.remainingMs() < slotMs - nowMs + sendBudgetMs) return again(slotMs);
    if (slot === undefined || isTrusted(slot, { schedule, readAtMs })) {
      await Promise.all([pauseUntil(slotMs, ports), ports.ready(chunk)]);
      const atMs = ports.nowMs();
      const late = lateOf(chunk, recipient, atMs);
      if (late !== undefined) return { outcome: late };
      return atMs > slotMs + missedAfterMs ? { ...again(atMs), missed: true } : undefined;
    }
    await pauseUntil(slotMs - lookAgainMs, ports);
    try {
      await called.lookAgain();
    } catch {
      return again(ports.nowMs());
    }
  }
}

/** How everybody of a job ends who is not called, as the job stands; undefined: they may be called (D46, D53). */
export function heldBackBy(job: JobState, chunk: QueuedChunk, nowMs: number): Outcome | undefined {
  const by = byJobState(job, chunk, nowMs);
  if (by.kind === 'send') return undefined;
  if (by.kind === 'settle') return by.settlement;
  return { state: 'again', dueMs: nowMs + by.delaySeconds * 1_000 };
}

/** The outcome of a message that may not be sent any more. */
function lateOf({ acceptedAtMs, expiresAtMs }: QueuedChunk, recipient: ChunkRecipient, nowMs: number) {
  const late = lateness({ acceptedAtMs, expiresAtMs, attempt: attemptsOf(recipient) }, nowMs);
  return late === undefined ? undefined : asOutcome(late);
}

function asOutcome({ state, code, reason }: { state: string; code: string; reason?: string }): Outcome {
  return { state: state as 'failed' | 'expired' | 'unknown', code, ...present({ reason }) };
}

function attemptsOf({ attempts = {} }: ChunkRecipient): number {
  return Object.values(attempts).reduce((sum, each) => sum + each, 0);
}

export async function pauseUntil(atMs: number, { nowMs, pause }: Pick<RunPorts, 'nowMs' | 'pause'>): Promise<void> {
  const waitMs = atMs - nowMs();
  if (waitMs > 0) await pause(waitMs);
}

async function afterFailure(error: unknown, called: Called, ports: RunPorts): Promise<Ended> {
  const { chunk, recipient } = called;
  const verdict = verdictOn(error);
  if (verdict.kind === 'settle') return { outcome: await afterRefusal(verdict, called, ports) };
  const { pace, settlement } = verdict;
  const known = recipient.attempts?.[pace] ?? 0;
  await ports.learning.refused(chunk, { to: recipient.to, pace, attempt: known });
  if (pace === 'credential') {
    const dispatchId = dispatchIdOf({ jobId: chunk.jobId, index: recipient.index });
    ports.log('dispatch.credential_refused', { dispatchId, clientId: chunk.clientId });
  }
  const dueMs = ports.nowMs() + 1_000 * retryDelaySeconds({ ...verdict, attempt: known }, ports.random());
  const attempts = { ...recipient.attempts, [pace]: known + 1 };
  if (dueMs >= retryDeadlineMs({ ...chunk, attempt: 1 })) return { outcome: asOutcome(settlement) };
  ports.log('dispatch.retry', { code: pace });
  return { outcome: { state: 'again', dueMs }, attempts };
}

/** A refusal of the template concerns the whole job (D46): all of it waits, or ends. Every other one this message alone. */
async function afterRefusal(
  { settlement, refusedCode }: Extract<Verdict, { kind: 'settle' }>,
  { chunk }: Called,
  ports: RunPorts,
): Promise<Outcome> {
  const { reason } = settlement;
  const held = await ports.holds.byRefusal(chunk, { code: refusedCode, ...present({ reason }) });
  if (held?.kind === 'wait') {
    ports.log('dispatch.retry', { code: 'parked' });
    return { state: 'again', dueMs: ports.nowMs() + held.delaySeconds * 1_000 };
  }
  return asOutcome(held?.settlement ?? settlement);
}
