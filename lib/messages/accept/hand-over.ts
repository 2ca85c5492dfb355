import { queueBody } from '../../aws/queue-body.ts';
import { Refusal } from '../../http/refusal.ts';
import { present } from '../../keys/present.ts';
import type { QueuedChunk } from '../chunk.ts';
import type { NoteCorrespondents } from '../inbound/correspondents-store.ts';
import type { Repeat } from '../job.ts';
import type { AcceptedJobs } from './accepted-jobs-store.ts';
import { answerBudgetMs } from './answer-time.ts';
import { encodeJob } from './job-message.ts';
import type { JobQueue } from './job-queue.ts';
import { maxRecipientBytes, RecipientTooLarge } from './parameter-pages.ts';
import type { JobParameters } from './parameter-store.ts';
import type { WholeJob } from './whole-job.ts';
import { type WithdrawPorts, withdrawJob, withdrawLimitMs } from './withdraw-job.ts';

/** A job is stored and queued within this time, or the attempt is given up. */
const handOverLimitMs = 6_000;

/** Of it, what storing may take: the queue's one small request always has two seconds, enough for a second attempt. */
const storeLimitMs = 4_000;

/** What noting correspondents may take: 16 writes at most, side by side, and twice as many with a time of its own. */
const noteLimitMs = 4_000;

const handOverBudgetMs = handOverLimitMs + withdrawLimitMs + answerBudgetMs;

export interface HandOverPorts extends WithdrawPorts {
  readonly parameters: Pick<JobParameters, 'store'>;
  readonly acceptance: Pick<AcceptedJobs, 'describe' | 'begin' | 'withdraw'>;
  readonly noteCorrespondents: NoteCorrespondents;
  /** Job messages, for the fan-out. */
  readonly queue: JobQueue;
  /** The dispatch queue of small requests, one-time codes above all (D44). */
  readonly urgentQueue: JobQueue;
}

/**
 * Hands a job over to the fan-out wholly or not at all (D25, R20): stores all of it, then queues its id. Refuses with 502
 * `dispatch_unavailable` when none of it will be sent: what is not stored whole is never queued; a queue that did not
 * confirm may still hold it, so that the job is withdrawn first. When that cannot be written either, it is not known: 502
 * `dispatch_undecided`, and the next request with the same Idempotency-Key finds it out. Refuses with 400
 * `invalid_recipients` a recipient that no item can hold: only a template with gaps between its variables takes one. A retry is
 * begun as well: what has not begun another retry may take back (retry/marks.ts).
 */
export async function handOverJob(job: WholeJob, ports: HandOverPorts): Promise<void> {
  const signal = givenUpAfter(ports);
  await storeWhole(job, AbortSignal.timeout(storeLimitMs), ports);
  const { jobId, clientId, acceptedAtMs, correlationId } = job.head;
  const message = encodeJob({ jobId, clientId, acceptedAtMs, ...present({ correlationId }) });
  await queuedOrTakenBack(jobId, ports, async () => {
    await ports.queue.send(message, String(clientId), signal);
    if (job.head.retryOf !== undefined) await begun(job, signal, ports);
  });
}

async function begun({ head, repeats = [] }: WholeJob, signal: AbortSignal, ports: HandOverPorts): Promise<void> {
  if ((await ports.acceptance.begin({ head, repeats }, signal)) === 'withdrawn') throw new Error('it was taken back');
}

/**
 * Notes whom a job from a shared number writes to, so that what they say is heard for its client (D55). Before anything is queued:
 * refuses with 502 `dispatch_unavailable` when it cannot be written.
 */
export async function noteCorrespondents(job: WholeJob, ports: HandOverPorts): Promise<void> {
  try {
    await ports.noteCorrespondents(job, noteLimitMs);
  } catch (cause) {
    throw unavailable(cause);
  }
}

/** The same of a request that goes straight: there is nothing to store. */
export async function handOverStraight(chunk: QueuedChunk, ports: HandOverPorts): Promise<void> {
  const signal = givenUpAfter(ports);
  const { jobId, clientId } = chunk;
  await queuedOrTakenBack(jobId, ports, () => ports.urgentQueue.send(queueBody(chunk), String(clientId), signal));
}

function givenUpAfter({ remainingMs }: HandOverPorts): AbortSignal {
  if (remainingMs() < handOverBudgetMs) throw unavailable(new Error('too little time left to queue the job'));
  return AbortSignal.timeout(handOverLimitMs);
}

async function storeWhole(job: WholeJob, signal: AbortSignal, ports: HandOverPorts): Promise<void> {
  try {
    await ports.parameters.store(job, signal);
    await ports.acceptance.describe(job, signal);
  } catch (cause) {
    // The queue was asked for nothing: there is nothing to take back.
    throw cause instanceof RecipientTooLarge ? tooLarge(cause, job) : unavailable(cause);
  }
}

async function queuedOrTakenBack(jobId: string, ports: HandOverPorts, queue: () => Promise<void>): Promise<void> {
  try {
    await queue();
  } catch (cause) {
    if ((await withdrawJob(jobId, ports)) === 'withdrawn') throw unavailable(cause);
  }
}

function unavailable(cause: unknown): Refusal {
  return new Refusal('dispatch_unavailable', 'the messages could not be queued; none of them will be sent', { cause });
}

function tooLarge({ index, bytes }: RecipientTooLarge, { repeats = [], positions }: WholeJob): Refusal {
  const path = `recipients[${positions?.[index] ?? placeInRequest(index, repeats)}].params`;
  const message = `expected at most ${maxRecipientBytes} bytes of JSON, received ${bytes}`;
  return new Refusal('invalid_recipients', `${path}: ${message}`, { errors: [{ path, message }] });
}

/** Where a recipient of the job stood in the request, from which repeated ones were dropped; they are in their order. */
function placeInRequest(index: number, repeats: readonly Repeat[]): number {
  let place = index;
  for (const [dropped] of repeats) if (dropped <= place) place += 1;
  return place;
}
