import { randomUUID } from 'node:crypto';
import { environmentVariable, queues } from '../../aws/deployed.ts';
import { sleep } from '../../aws/pause.ts';
import { queueBody } from '../../aws/queue-body.ts';
import { type DelayedQueue, delayedQueue } from '../../aws/sqs-batch.ts';
import { log } from '../../observe/log.ts';
import { deployedEvents } from '../../webhooks/deployed.ts';
import { acceptedDispatchesStore } from '../accept/accepted-dispatches-store.ts';
import { senderWakeQueue } from '../dispatch/sender-wake-queue.ts';
import { sliceStore } from '../dispatch/slice-store.ts';
import { knownPaceStore } from '../pace/known-pace-store.ts';
import type { CountMessage } from '../spend/later-counts.ts';
import { messagesTable } from './messages-table.ts';

/** What is known of the paces of numbers. */
export function deployedKnownPaces() {
  return knownPaceStore(messagesTable(), { newWriter: randomUUID });
}

/** The message group is the client. */
export function deployedCounts(): DelayedQueue<CountMessage> {
  const queue = { client: queues(), url: environmentVariable('COUNTS_QUEUE_URL') };
  return delayedQueue<CountMessage>(queue, queueBody, ({ clientId }) => String(clientId));
}

/** The message group is the number. */
export function deployedSenderWakes() {
  return senderWakeQueue({ client: queues(), url: environmentVariable('DISPATCH_QUEUE_URL') });
}

export function deployedAcceptedDispatches() {
  return acceptedDispatchesStore(messagesTable());
}

export function deployedSending() {
  return {
    slices: sliceStore(messagesTable()),
    events: deployedEvents(),
    nowMs: Date.now,
    random: Math.random,
    pause: sleep,
    log,
  };
}
