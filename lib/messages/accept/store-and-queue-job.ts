import { queueBody } from '../../aws/queue-body.ts';
import { Refusal } from '../../http/refusal.ts';
import { omitUndefined } from '../../keys/omit-undefined.ts';
import type { QueuedChunk } from '../chunk.ts';
import type { NoteCorrespondents } from '../inbound/correspondents-store.ts';
import type { Repeat } from '../job.ts';
import type { AcceptedJobs } from './accepted-jobs-store.ts';
import { answerBudgetMs } from './answer-deadline.ts';
import { encodeJob } from './job-message.ts';
import type { JobQueue } from './job-queue.ts';
import { maxRecipientBytes, RecipientTooLarge } from './parameter-pages.ts';
import type { JobParameters } from './parameter-store.ts';
import type { WholeJob } from './whole-job.ts';
import { type WithdrawPorts, withdrawJob, withdrawLimitMs } from './withdraw-job.ts';

const handOverLimitMs = 6_000;

/** The queue keeps two of the six seconds, enough for a second attempt. */
const storeLimitMs = 4_000;

/** At most 16 writes run at once, 32 for a scheduled send. */
const noteLimitMs = 4_000;

const handOverBudgetMs = handOverLimitMs + withdrawLimitMs + answerBudgetMs;

export interface QueueJobPorts extends WithdrawPorts {
  readonly parameters: Pick<JobParameters, 'store'>;
  readonly acceptance: Pick<AcceptedJobs, 'describe' | 'begin' | 'withdraw'>;
  readonly noteCorrespondents: NoteCorrespondents;
  readonly queue: JobQueue;
  /** The urgent queue takes small requests, one-time codes above all (D44). */
  readonly urgentQueue: JobQueue;
}

/**
 * Stores a job, then queues its id: all or nothing (D25, R20). Refuses with 502 `dispatch_unavailable` (none is sent),
 * 502 `dispatch_undecided` (unknown), 400 `invalid_recipients` (a recipient larger than an item).
 */
export async function storeAndQueueJob(job: WholeJob, ports: QueueJobPorts): Promise<void> {
  const signal = givenUpAfter(ports);
  await storeWhole(job, AbortSignal.timeout(storeLimitMs), ports);
  const { jobId, clientId, acceptedAtMs, correlationId } = job.head;
  const message = encodeJob({ jobId, clientId, acceptedAtMs, ...omitUndefined({ correlationId }) });
  await queuedOrTakenBack(jobId, ports, async () => {
    await ports.queue.send(message, String(clientId), signal);
    // A retry begins now: another retry may take back a job that has not begun (retry/marks.ts).
    if (job.head.retryOf !== undefined) await begun(job, signal, ports);
  });
}

async function begun({ head, repeats = [] }: WholeJob, signal: AbortSignal, ports: QueueJobPorts): Promise<void> {
  if ((await ports.acceptance.begin({ head, repeats }, signal)) === 'withdrawn') throw new Error('it was taken back');
}

/**
 * Notes the recipients of a job from a shared number before it is queued (D55). Refuses with 502
 * `dispatch_unavailable`.
 */
export async function noteCorrespondents(job: WholeJob, ports: QueueJobPorts): Promise<void> {
  try {
    await ports.noteCorrespondents(job, noteLimitMs);
  } catch (cause) {
    throw unavailable(cause);
  }
}

/** Queues a straight request, for which nothing is stored. Refuses as `storeAndQueueJob` does. */
export async function queueStraightRequest(chunk: QueuedChunk, ports: QueueJobPorts): Promise<void> {
  const signal = givenUpAfter(ports);
  const { jobId, clientId } = chunk;
  await queuedOrTakenBack(jobId, ports, () => ports.urgentQueue.send(queueBody(chunk), String(clientId), signal));
}

function givenUpAfter({ remainingMs }: QueueJobPorts): AbortSignal {
  if (remainingMs() < handOverBudgetMs) throw unavailable(new Error('too little time left to queue the job'));
  return AbortSignal.timeout(handOverLimitMs);
}

async function storeWhole(job: WholeJob, signal: AbortSignal, ports: QueueJobPorts): Promise<void> {
  try {
    await ports.parameters.store(job, signal);
    await ports.acceptance.describe(job, signal);
  } catch (cause) {
    // Nothing was queued yet, so there is nothing to withdraw.
    throw cause instanceof RecipientTooLarge ? tooLarge(cause, job) : unavailable(cause);
  }
}

async function queuedOrTakenBack(jobId: string, ports: QueueJobPorts, queue: () => Promise<void>): Promise<void> {
  try {
    await queue();
  } catch (cause) {
    // A queue that did not confirm may still hold the message, so the job is withdrawn first.
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

/** Returns a recipient's place in the request, which still had the repeats. `repeats` is sorted. */
function placeInRequest(index: number, repeats: readonly Repeat[]): number {
  let place = index;
  for (const [dropped] of repeats) if (dropped <= place) place += 1;
  return place;
}
