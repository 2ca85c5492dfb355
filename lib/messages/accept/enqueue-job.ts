import { Refusal } from '../../http/refusal.ts';
import type { AcceptanceRecords } from './acceptance-store.ts';
import { answerBudgetMs } from './answer-time.ts';
import type { JobQueue } from './job-queue.ts';
import { type AcceptedSend, encodeSendJob } from './send-job.ts';
import type { StraightSend } from './straight-send.ts';
import { withdrawJob, withdrawLimitMs } from './withdraw-job.ts';

/** All messages of a job are queued and committed within this time, or the attempt is given up. */
const queueLimitMs = 6_000;
const enqueueBudgetMs = queueLimitMs + withdrawLimitMs + answerBudgetMs;

export interface EnqueuePorts {
  /** Job messages, for the fan-out. */
  readonly queue: JobQueue;
  /** The dispatch queue, for what goes straight; and that of one-time codes (D44). */
  readonly straightQueue: JobQueue;
  readonly urgentQueue: JobQueue;
  readonly acceptance: Pick<AcceptanceRecords, 'commit' | 'withdraw'>;
  /** Time left until Lambda ends this invocation. */
  readonly remainingMs: () => number;
}

/**
 * Hands a job over wholly or not at all (D25, R20). Refuses with 502 `dispatch_unavailable` when none of it will be
 * sent: a queue that did not confirm may still hold it, so the job is withdrawn first. When that cannot be written
 * either, nobody knows: 502 `dispatch_undecided`, and the next request with the same Idempotency-Key finds it out.
 */
export async function enqueueJob(job: AcceptedSend, ports: EnqueuePorts): Promise<void> {
  const { jobId, clientId } = job.head;
  const messages = encodeSendJob(job);
  await whollyOrNotAtAll(jobId, ports, async (signal) => {
    for (const message of messages) await ports.queue.send(message, String(clientId), signal);
    if (messages.length > 1) await ports.acceptance.commit(jobId, signal);
  });
}

/** The same for a message that goes straight. */
export async function enqueueStraight({ message, body }: StraightSend, ports: EnqueuePorts): Promise<void> {
  const { jobId, clientId, urgent } = message;
  const queue = urgent ? ports.urgentQueue : ports.straightQueue;
  await whollyOrNotAtAll(jobId, ports, (signal) => queue.send(body, String(clientId), signal));
}

async function whollyOrNotAtAll(
  jobId: string,
  ports: EnqueuePorts,
  enqueue: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (ports.remainingMs() < enqueueBudgetMs) throw unavailable(new Error('too little time left to queue the job'));
  try {
    await enqueue(AbortSignal.timeout(queueLimitMs));
  } catch (cause) {
    if ((await withdrawJob(jobId, ports)) === 'withdrawn') throw unavailable(cause);
  }
}

function unavailable(cause: unknown): Refusal {
  return new Refusal('dispatch_unavailable', 'the messages could not be queued; none of them will be sent', { cause });
}
