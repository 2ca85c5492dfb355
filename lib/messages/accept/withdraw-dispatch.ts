import { Refusal } from '../../http/refusal.ts';
import type { AcceptedDispatches } from './accepted-dispatches-store.ts';
import { answerBudgetMs } from './answer-deadline.ts';

export const withdrawLimitMs = 3_000;

export interface WithdrawPorts {
  readonly acceptance: Pick<AcceptedDispatches, 'withdraw'>;
  readonly remainingMs: () => number;
}

/**
 * Withdraws a dispatch unless it has begun, in the time left before the answer. Refuses with 502 `dispatch_undecided`
 * when the write fails: a repeated Idempotency-Key finds out.
 */
export async function withdrawDispatch(dispatchId: string, ports: WithdrawPorts): Promise<'withdrawn' | 'begun'> {
  try {
    const limitMs = Math.max(0, Math.min(withdrawLimitMs, ports.remainingMs() - answerBudgetMs));
    return await ports.acceptance.withdraw(dispatchId, AbortSignal.timeout(limitMs));
  } catch (cause) {
    throw new Refusal(
      'dispatch_undecided',
      'whether the messages were queued is not known; only a request with an Idempotency-Key can safely be repeated, with the same key',
      { cause },
    );
  }
}
