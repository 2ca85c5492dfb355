import * as v from 'valibot';
import { queuedMessage } from '../../aws/queued-message.ts';
import { correlated } from '../../observe/correlation.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { EventSink } from '../../webhooks/event.ts';
import { completedEvent } from '../dispatch/completed-event.ts';
import { aboutJob, type JobHead } from '../job.ts';
import type { Lot } from '../lots.ts';
import {
  type CountMessage,
  nextLookSeconds,
  type QueuedWatch,
  QueuedWatchSchema,
  type WatchMessage,
  type WatchQueue,
  watchVersion,
} from './watch-message.ts';
import { lookAtParked, type ParkedPorts } from './watch-parked.ts';

/** How far a job is, for the watcher that waits for its end. */
export interface JobProgress {
  readonly head: JobHead;
  /** Of a send with a time of its own. */
  readonly lots?: readonly Lot[];
  /** Partitions of which nothing is pending any more. That stays so, whatever receipts still come. */
  readonly finalPartitions: readonly number[];
  /** Once nothing of the job is pending. */
  readonly counts?: Readonly<Record<string, number>>;
}

export interface WatchPorts {
  /** How far a job is; undefined when there is none any more. Partitions that are final need not be read again. */
  readonly progressOf: (jobId: string, knownFinal: readonly number[]) => Promise<JobProgress | undefined>;
  readonly queue: WatchQueue;
  readonly events: EventSink;
  readonly parked: ParkedPorts;
  readonly spend: WatchedSpend;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** What jobs cost (D58). Both throw when the store or the queue cannot be reached. */
export interface WatchedSpend {
  /** Has the cost of the job counted later by all that is written of it now. */
  countLater(head: JobHead): Promise<void>;
  /** Counts it, or has it counted once it is due. */
  count(message: CountMessage): Promise<void>;
}

/** One delivery of a queue message. */
export interface WatchDelivery {
  readonly messageId: string;
  readonly body: string;
}

/**
 * Looks at jobs once and returns the ids of the messages to be delivered again. A job of which something is pending is
 * queued again for a later look, so that waiting uses up no deliveries; one that has ended is told as `dispatch.completed`
 * (D41), and its cost is counted once more a little later (D58). The copy, and the event, come before the acknowledgement: whatever fails or dies, the end is told, and told twice
 * it has one id. Counted is what is written, not what was seen to happen: nothing is counted twice.
 */
export async function watchJobs(deliveries: readonly WatchDelivery[], ports: WatchPorts): Promise<string[]> {
  const again = await Promise.all(
    deliveries.map(async ({ messageId, body }) => {
      try {
        const message = v.parse(QueuedWatchSchema, queuedMessage(body, watchVersion));
        await correlated(message.correlationId, () => lookAt(message, ports));
        return [];
      } catch (error) {
        ports.log('job.watch_failed', { error: nameOf(error) });
        return [messageId];
      }
    }),
  );
  return again.flat();
}

async function lookAt(message: QueuedWatch, ports: WatchPorts): Promise<void> {
  if (message.kind === 'count') return await ports.spend.count(message);
  if (message.kind === 'running') return await look(message, ports);
  await lookAtParked(message, { ...ports, ...ports.parked });
}

async function look(message: WatchMessage, ports: WatchPorts): Promise<void> {
  const { jobId, clientId, acceptedAtMs } = message;
  const progress = await ports.progressOf(jobId, message.final);
  if (progress === undefined) {
    ports.log('job.watch_ended', { jobId, clientId });
    return;
  }
  const { head, lots, finalPartitions, counts } = progress;
  if (counts === undefined) {
    const next = { ...message, final: [...finalPartitions] };
    await ports.queue.sendLater(next, nextLookSeconds({ acceptedAtMs, lots }, ports.nowMs()));
    return;
  }
  await ports.spend.countLater(head);
  const { pending: _none, ...ended } = counts;
  await ports.events.send([
    completedEvent({ jobId, clientId, acceptedAtMs, about: aboutJob(head) }, ended, ports.nowMs()),
  ]);
  ports.log('job.completed', { jobId, clientId, count: head.total });
}
