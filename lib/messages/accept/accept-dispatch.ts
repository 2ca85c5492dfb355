import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { WholeDispatch } from '../dispatch/whole-dispatch.ts';
import type { AcceptedDispatches } from './accepted-dispatches-store.ts';
import { inTimeLeft } from './answer-deadline.ts';
import { type QueueDispatchPorts, queueStraightRequest, storeAndQueueDispatch } from './store-and-queue-dispatch.ts';
import { straightRequest } from './straight-request.ts';

export interface AcceptDispatchPorts extends QueueDispatchPorts {
  readonly acceptance: Pick<AcceptedDispatches, 'describe' | 'withdraw' | 'list' | 'begin' | 'beginStraight'>;
  /** Reads the messages a second that the number may send, as the platform last reported them. */
  readonly limitOf: (head: DispatchHead) => Promise<number>;
}

/** Hands small dispatches straight to workers, others to the fan-out. Refuses as `storeAndQueueDispatch` does. */
export async function acceptDispatch(dispatch: WholeDispatch, ports: AcceptDispatchPorts): Promise<void> {
  const { dispatchId, clientId, total } = dispatch.head;
  const straight = await straightRequest(dispatch, ports.limitOf);
  if (straight === undefined) await storeAndQueueDispatch(dispatch, ports);
  else await queueStraightRequest(straight, ports);
  count('RecipientsAccepted', total);
  log('dispatch.accepted', { dispatchId, clientId, count: total });
  // The dispatch counts even if this fails or is late: the fan-out or the worker lists it before it sends.
  try {
    await inTimeLeft(ports.remainingMs, async (signal) => {
      if (straight === undefined) await ports.acceptance.list(dispatch, signal);
      else await ports.acceptance.beginStraight(straight, signal);
    });
  } catch (error) {
    log('dispatch.not_described', { dispatchId, error: errorName(error) });
  }
}
