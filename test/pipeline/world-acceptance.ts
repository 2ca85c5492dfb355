import type { WholeDispatch } from '../../lib/messages/dispatch/whole-dispatch.ts';
import { acceptDispatch } from '../support/begun-dispatches.ts';
import type { Run } from './runs.ts';
import type { Answer, WorldParts } from './world-parts.ts';

/** Hands a dispatch over as acceptance does. The answer never comes when the run dies. */
export async function acceptedBy(
  { queues, rules, stores }: WorldParts,
  dispatch: WholeDispatch,
  run: Run,
): Promise<Answer> {
  try {
    await acceptDispatch(dispatch, {
      acceptance: stores.ofAcceptance(run),
      queue: { send: (body) => run.call('enqueueDispatch', () => queues.dispatches.send(body)) },
      urgentQueue: { send: (body) => run.call('enqueueStraight', () => queues.small.send(body)) },
      limitOf: async () => rules.limitPerSecond,
      remainingMs: () => 29_000,
    });
  } catch (error) {
    return (error as { code?: string }).code === 'dispatch_unavailable' ? 'refused' : 'undecided';
  }
  return 'accepted';
}
