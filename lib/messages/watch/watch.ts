import * as v from 'valibot';
import { queuedMessage } from '../../aws/queued-message.ts';
import { correlated } from '../../observe/correlation.ts';
import { errorName } from '../../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { EventSink } from '../../webhooks/event.ts';
import type { DispatchReservation } from '../budget/budgets.ts';
import { aboutDispatch, type DispatchHead } from '../dispatch/head.ts';
import type { DispatchStop } from '../dispatch/item.ts';
import type { StoredDispatch } from '../dispatch/whole-dispatch.ts';
import { completedEvent } from '../send/completed-event.ts';
import { type CountMessage, type QueuedWatch, QueuedWatchSchema, watchVersion } from './watch-message.ts';
import { lookAtParked, type ParkedPorts } from './watch-parked.ts';

export interface DispatchProgress extends Pick<StoredDispatch, 'head' | 'lots'> {
  readonly reserved?: DispatchReservation;
  readonly stop?: DispatchStop | undefined;
  /** These partitions have no pending messages, which is final, whatever receipts come. */
  readonly finalPartitions: readonly number[];
  /** The counts are there once nothing is pending. */
  readonly counts?: Readonly<Record<string, number>>;
}

export interface WatchPorts {
  readonly events: EventSink;
  readonly parked: ParkedPorts;
  readonly spend: WatchedSpend;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** Every method rejects when store or queue cannot be reached (D58). */
export interface WatchedSpend {
  /** Queues a later count of everything written by now. */
  countLater(head: DispatchHead): Promise<void>;
  /** Counts now if due, else queues again. */
  count(message: CountMessage): Promise<void>;
}

export interface WatchDelivery {
  readonly messageId: string;
  readonly body: string;
}

/**
 * Returns the ids to deliver again. Dispatches that are still parked are requeued, which uses up no deliveries.
 */
export async function watchDispatches(deliveries: readonly WatchDelivery[], ports: WatchPorts): Promise<string[]> {
  const again = await Promise.all(
    deliveries.map(async ({ messageId, body }) => {
      try {
        const message = v.parse(QueuedWatchSchema, queuedMessage(body, watchVersion));
        await correlated(message.correlationId, () => lookAt(message, ports));
        return [];
      } catch (error) {
        ports.log('dispatch.watch_failed', { error: errorName(error) });
        return [messageId];
      }
    }),
  );
  return again.flat();
}

async function lookAt(message: QueuedWatch, ports: WatchPorts): Promise<void> {
  if (message.kind === 'count') return await ports.spend.count(message);
  await lookAtParked(message, { ...ports, ...ports.parked });
}

/** Tells the end of a dispatch and has its cost counted. After a failure both are repeated, idempotently. */
export async function tellCompleted(
  head: DispatchHead,
  counts: Readonly<Record<string, number>>,
  { spend, events, nowMs, log }: Pick<WatchPorts, 'events' | 'spend' | 'nowMs' | 'log'>,
): Promise<void> {
  const { dispatchId, clientId } = head;
  // Count and event precede the acknowledgement.
  await spend.countLater(head);
  const { pending: _none, ...ended } = counts;
  await events.send([completedEvent({ ...head, about: aboutDispatch(head) }, ended, nowMs())]);
  log('dispatch.completed', { dispatchId, clientId, count: head.total });
}
