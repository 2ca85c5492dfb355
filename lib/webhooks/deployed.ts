import { randomUUID } from 'node:crypto';
import { documents, environmentVariable, queues, secretValue } from '../aws/deployed.ts';
import { backoff } from '../aws/pause.ts';
import { type DelayedQueue, delayedQueue } from '../aws/sqs-batch.ts';
import { log } from '../observe/log.ts';
import { type WebhookConfigs, webhookConfigStore } from './config/config-store.ts';
import { type SealingKeySet, sealingKeySet, secretOpener } from './config/sealing.ts';
import { sealingKeysKeptSeconds } from './config/sealing-rotation.ts';
import { backlogStore } from './delivery/backlog-store.ts';
import { deliveryStateStore } from './delivery/delivery-state-store.ts';
import { encodeWake } from './delivery/pending.ts';
import { type Post, postPublic } from './delivery/post-network.ts';
import { receiversIn } from './delivery/receivers.ts';
import type { EventSink, SubscribedTypes } from './event.ts';
import { eventQueue } from './event-queue.ts';
import { eventRecordStore } from './event-record-store.ts';
import { subscribedOnly, subscribedTypes } from './event-subscription.ts';

/** Sends events that a client wants to the event queue (D41). */
export function deployedEvents(): EventSink {
  const sink = eventQueue(queues(), environmentVariable('EVENT_QUEUE_URL'));
  return subscribedOnly({ sink, wanted: deployedSubscriptions(), log });
}

export function deployedSubscriptions(): SubscribedTypes {
  const { findConfig } = deployedConfigs();
  return async (clientId) => subscribedTypes(await findConfig(clientId));
}

export function deployedConfigs(): WebhookConfigs {
  return webhookConfigStore(documents(), environmentVariable('WEBHOOKS_TABLE'));
}

function deployedWakes(): DelayedQueue<number> {
  return delayedQueue({ client: queues(), url: environmentVariable('EVENT_QUEUE_URL') }, encodeWake, String);
}

/** Starts a delivery run for a client at once. */
export function deployedWake(): (clientId: number) => Promise<void> {
  const wakes = deployedWakes();
  return (clientId) => wakes.sendLater(clientId, 0);
}

export function deployedSealingKeys(): () => Promise<SealingKeySet> {
  return secretValue('WEBHOOK_SEALING_KEYS_SECRET', sealingKeysKeptSeconds, sealingKeySet);
}

export function deployedDeliveries() {
  return {
    records: eventRecordStore(documents(), environmentVariable('WEBHOOKS_TABLE')),
    receivers: receiversIn(deployedConfigs(), secretOpener(deployedSealingKeys()), Date.now),
    states: deliveryStateStore({
      client: documents(),
      table: environmentVariable('WEBHOOKS_TABLE'),
      // A change takes some 10 ms, and other runs of the function compete.
      pause: backoff(10, 200),
    }),
    list: backlogStore(documents(), environmentVariable('WEBHOOKS_TABLE')),
    queue: deployedWakes(),
    post: (post: Post) => postPublic(post),
    newOwner: randomUUID,
    nowMs: Date.now,
    random: Math.random,
    log,
  };
}
