import { randomUUID } from 'node:crypto';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { storePause } from '../lib/aws/pause.ts';
import { keptFor, secretReader } from '../lib/aws/secrets.ts';
import { queueClient } from '../lib/aws/sqs.ts';
import { log } from '../lib/observe/log.ts';
import { metered } from '../lib/observe/metrics.ts';
import { webhookConfigStore } from '../lib/webhooks/config/config-store.ts';
import { sealingKeySet, secretOpener } from '../lib/webhooks/config/sealing.ts';
import { sealingKeysKeptSeconds } from '../lib/webhooks/config/sealing-rotation.ts';
import { deliverBatch } from '../lib/webhooks/delivery/deliver.ts';
import type { DeliverPorts } from '../lib/webhooks/delivery/deliver-ports.ts';
import { deliveryStateStore } from '../lib/webhooks/delivery/delivery-state-store.ts';
import { localNetwork, localReceiver } from '../lib/webhooks/delivery/local-receiver.ts';
import { pendingQueue } from '../lib/webhooks/delivery/pending-queue.ts';
import { postPublic } from '../lib/webhooks/delivery/post-network.ts';
import { receiversIn } from '../lib/webhooks/delivery/receivers.ts';
import { eventRecordStore } from '../lib/webhooks/event-record-store.ts';

/** Consumer of the event queue: records each event and posts it to its client (D34); reports what must come again. */
export function eventsDeliver(ports: Omit<DeliverPorts, 'remainingMs'>) {
  return async (event: SQSEvent, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<SQSBatchResponse> => {
    const remainingMs = () => context.getRemainingTimeInMillis();
    const failedIds = await metered(() => deliverBatch(event.Records, { ...ports, remainingMs }));
    return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}

const client = documentClient();
const table = environmentVariable('WEBHOOKS_TABLE');
const readSecret = secretReader();
const sealingKeysSecret = environmentVariable('WEBHOOK_SEALING_KEYS_SECRET');
const sealingKeys = keptFor(sealingKeysKeptSeconds * 1_000, Date.now, async () =>
  sealingKeySet(await readSecret(sealingKeysSecret)),
);
// Set by the local stack alone.
const receiver = localReceiver(process.env['WEBHOOK_TRUSTED_RECEIVER']);

export const handler = eventsDeliver({
  records: eventRecordStore(client, table),
  receivers: receiversIn(webhookConfigStore(client, table), secretOpener(sealingKeys), Date.now),
  states: deliveryStateStore({ client, table, pause: storePause }),
  queue: pendingQueue(queueClient(), environmentVariable('EVENT_QUEUE_URL')),
  post: (post) => postPublic(post, (host) => localNetwork(receiver, host)),
  newOwner: randomUUID,
  nowMs: Date.now,
  random: Math.random,
  log,
});
