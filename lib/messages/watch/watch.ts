import * as v from 'valibot';
import { queuedMessage } from '../../aws/queued-message.ts';
import { correlated } from '../../observe/correlation.ts';
import { errorName } from '../../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { EventSink } from '../../webhooks/event.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import { type CountMessage, type QueuedWatch, QueuedWatchSchema, watchVersion } from './watch-message.ts';
import { lookAtParked, type ParkedPorts } from './watch-parked.ts';

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
