import { Refusal } from '../../http/refusal.ts';
import type { AcceptedJobs } from './accepted-jobs-store.ts';
import { answerBudgetMs } from './answer-time.ts';

/** A withdrawal is written within this time, or given up. */
export const withdrawLimitMs = 3_000;

export interface WithdrawPorts {
  readonly acceptance: Pick<AcceptedJobs, 'withdraw'>;
  /** Time left until Lambda ends this invocation. */
  readonly remainingMs: () => number;
}

/**
 * Takes a job back unless it was begun, in what is left before the answer. Refuses with 502 `dispatch_undecided` when that
 * cannot be written: then it is not known whether the job will be sent, and the next request with the same Idempotency-Key
 * finds it out.
 */
export async function withdrawJob(jobId: string, ports: WithdrawPorts): Promise<'withdrawn' | 'begun'> {
  try {
    const limitMs = Math.max(0, Math.min(withdrawLimitMs, ports.remainingMs() - answerBudgetMs));
    return await ports.acceptance.withdraw(jobId, AbortSignal.timeout(limitMs));
  } catch (cause) {
    throw new Refusal(
      'dispatch_undecided',
      'whether the messages were queued is not known; only a request with an Idempotency-Key can safely be repeated, with the same key',
      { cause },
    );
  }
}
