import { Refusal } from '../../http/refusal.ts';
import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import type { CostLimits } from '../budget/cost-limits.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { WholeDispatch } from '../dispatch/whole-dispatch.ts';
import type { AcceptedDispatches } from './accepted-dispatches-store.ts';
import { inTimeLeft } from './answer-deadline.ts';
import { type CheckPorts, checkSend, type Send } from './check-send.ts';
import { type CostLimitPorts, reserveCost } from './cost-reservation.ts';
import type { Accepted } from './idempotency.ts';
import { type QueueDispatchPorts, queueStraightRequest, storeAndQueueDispatch } from './store-and-queue-dispatch.ts';
import { straightRequest } from './straight-request.ts';

export interface AcceptDispatchPorts extends QueueDispatchPorts {
  readonly acceptance: Pick<AcceptedDispatches, 'describe' | 'withdraw' | 'list' | 'begin' | 'beginStraight'>;
  /** Reads the messages a second that the number may send, as the platform last reported them. */
  readonly limitOf: (head: DispatchHead) => Promise<number>;
}
export interface AcceptPorts extends CheckPorts, CostLimitPorts, Omit<AcceptDispatchPorts, 'remainingMs'> {}

/**
 * Checks a send (400, 404, 422, 502), reserves what it may cost (D58), hands over all of it or nothing (D25), and lists
 * it (D40).
 */
export async function acceptSend(
  { means, remainingMs, ...send }: Send & { readonly means: CostLimits; readonly remainingMs: () => number },
  given: AcceptPorts,
): Promise<Accepted> {
  const ports = { ...given, remainingMs };
  const { dispatch, warning } = await checkSend(send, ports);
  const unrated = await acceptWithinCostLimits(dispatch, means, ports);
  const sentences = [warning, unrated].filter((sentence) => sentence !== undefined);
  return { dispatchId: send.dispatchId, warning: sentences.length === 0 ? undefined : sentences.join('; ') };
}

/**
 * Reserves, accepts, and tells the thresholds passed. Refuses as `reserveCost` and `acceptDispatch`; returns a warning.
 */
export async function acceptWithinCostLimits(
  given: WholeDispatch,
  means: CostLimits,
  ports: AcceptDispatchPorts & CostLimitPorts,
): Promise<string | undefined> {
  const { dispatch, warning, release, tell } = await reserveCost(given, means, ports);
  try {
    await acceptDispatch(dispatch, ports);
  } catch (error) {
    // An undecided dispatch may still be sent, so its reservation stays (idempotency.ts finds it out).
    if (!(error instanceof Refusal && error.code === 'dispatch_undecided')) await release();
    throw error;
  }
  await tell();
  return warning;
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
