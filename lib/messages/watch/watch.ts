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
  nextLookSeconds,
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
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** One delivery of a queue message. */
export interface WatchDelivery {
  readonly messageId: string;
  readonly body: string;
}

/**
 * Looks at jobs once and returns the ids of the messages to be delivered again. A job of which something is pending is
 * queued again for a later look, so that waiting uses up no deliveries; one that has ended is told as `dispatch.completed`
 * (D41). The copy, and the event, come before the acknowledgement: whatever fails or dies, the end is told, and told twice
 * it has one id. Counted is what is written, not what was seen to happen: nothing is counted twice.
 */
export async function watchJobs(deliveries: readonly WatchDelivery[], ports: WatchPorts): Promise<string[]> {
  const again = await Promise.all(
    deliveries.map(async ({ messageId, body }) => {
      try {
        const message = v.parse(QueuedWatchSchema, queuedMessage(body, watchVersion));
        await correlated(message.correlationId, () =>
          message.kind === 'running' ? look(message, ports) : lookAtParked(message, { ...ports, ...ports.parked }),
        );
        return [];
      } catch (error) {
        ports.log('job.watch_failed', { error: nameOf(error) });
        return [messageId];
      }
    }),
  );
  return again.flat();
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
  const { pending: _none, ...ended } = counts;
  await ports.events.send([
    completedEvent({ jobId, clientId, acceptedAtMs, about: aboutJob(head) }, ended, ports.nowMs()),
  ]);
  ports.log('job.completed', { jobId, clientId, count: head.total });
}
