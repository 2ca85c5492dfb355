import {
  type QueueDispatchPorts,
  queueStraightRequest,
  storeAndQueueDispatch,
} from '../../lib/messages/accept/store-and-queue-dispatch.ts';
import { straightRequest } from '../../lib/messages/accept/straight-request.ts';
import type { WholeDispatch } from '../../lib/messages/dispatch/whole-dispatch.ts';
import type { Run } from './runs.ts';
import type { Answer, WorldParts } from './world-parts.ts';

const signal = new AbortController().signal;

/** Hands a dispatch over as acceptance does. The answer never comes when the run dies. */
export async function acceptedBy(
  { queues, rules, stores }: WorldParts,
  dispatch: WholeDispatch,
  run: Run,
): Promise<Answer> {
  const table = stores.ofAcceptance(run);
  const ports: QueueDispatchPorts = {
    ...table,
    queue: { send: (body) => run.call('enqueueDispatch', () => queues.dispatches.send(body)) },
    urgentQueue: { send: (body) => run.call('enqueueStraight', () => queues.small.send(body)) },
    remainingMs: () => 29_000,
  };
  const straight = await straightRequest(dispatch, async () => rules.limitPerSecond);
  try {
    await (straight === undefined ? storeAndQueueDispatch(dispatch, ports) : queueStraightRequest(straight, ports));
  } catch (error) {
    return (error as { code?: string }).code === 'dispatch_unavailable' ? 'refused' : 'undecided';
  }
  const { list, beginStraight } = table.acceptance;
  const shown: Promise<unknown> = straight === undefined ? list(dispatch, signal) : beginStraight(straight, signal);
  await shown.catch(() => undefined);
  return 'accepted';
}
