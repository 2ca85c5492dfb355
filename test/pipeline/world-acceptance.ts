import type { WholeDispatch } from '../../lib/messages/dispatch/whole-dispatch.ts';
import { wakeForAccepted } from '../../lib/messages/sender/wake-accepted.ts';
import { acceptDispatch } from '../support/begun-dispatches.ts';
import type { Run } from './runs.ts';
import type { Answer, WorldParts } from './world-parts.ts';
import { wakesOf } from './world-senders.ts';

/** Hands a dispatch over as acceptance does. The answer never comes when the run dies. */
export async function acceptedBy(world: WorldParts, dispatch: WholeDispatch, run: Run): Promise<Answer> {
  const { queues, rules, stores, time } = world;
  const limitOf = async () => rules.limitPerSecond;
  const wake = wakesOf(world, run, 'wakeAccepted');
  try {
    await acceptDispatch(dispatch, {
      acceptance: stores.ofAcceptance(run),
      wake: (head) => wakeForAccepted(head, { limitOf, wake, nowMs: () => time.nowMs }),
      urgentQueue: {
        send: (body) => run.call('enqueueStraight', () => queues.small.send(body), Buffer.byteLength(body)),
      },
      limitOf,
      remainingMs: () => 29_000,
    });
  } catch (error) {
    return (error as { code?: string }).code === 'dispatch_unavailable' ? 'refused' : 'undecided';
  }
  return 'accepted';
}
