import type { DispatchReservation } from '../budget/budgets.ts';
import { aboutDispatch, type DispatchHead } from '../dispatch/head.ts';
import type { DispatchStop } from '../dispatch/item.ts';
import { completedEvent } from '../send/completed-event.ts';
import type { SliceTryPorts } from './sender-ports.ts';

export interface DispatchProgress {
  readonly head: DispatchHead;
  readonly reserved?: DispatchReservation | undefined;
  readonly stop?: DispatchStop | undefined;
  /** The counts are there once nothing is pending. */
  readonly counts?: Readonly<Record<string, number>>;
}

/**
 * Tells the end of a dispatch (D41) and has its cost counted (D58), unless it is forgotten: idempotently, so a failure is
 * repeated. Returns false while messages are pending.
 */
export async function tellEnd(
  dispatchId: string,
  {
    progressOf,
    spend,
    events,
    nowMs,
    log,
  }: Pick<SliceTryPorts, 'events'> &
    Pick<SliceTryPorts['process'], 'nowMs' | 'log'> & {
      /** Queues a later count of everything written by now. Rejects when store or queue cannot be reached (D58). */
      readonly spend: { readonly countLater: (head: DispatchHead) => Promise<void> };
      /** Returns undefined for a missing dispatch. */
      readonly progressOf: (dispatchId: string) => Promise<DispatchProgress | undefined>;
    },
): Promise<boolean> {
  const progress = await progressOf(dispatchId);
  if (progress === undefined) return true;
  const { head, counts } = progress;
  if (counts === undefined) return false;
  await spend.countLater(head);
  const { pending: _none, ...ended } = counts;
  await events.send([completedEvent({ ...head, about: aboutDispatch(head) }, ended, nowMs())]);
  log('dispatch.completed', { dispatchId, clientId: head.clientId, count: head.total });
  return true;
}
