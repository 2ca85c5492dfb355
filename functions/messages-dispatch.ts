import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { secretReader } from '../lib/aws/secrets.ts';
import { queueClient } from '../lib/aws/sqs.ts';
import { platformCallTimeoutMs } from '../lib/messages/dispatch/claim.ts';
import { dispatchBatch } from '../lib/messages/dispatch/dispatch.ts';
import type { DispatchPorts } from '../lib/messages/dispatch/dispatch-ports.ts';
import { dispatchStore } from '../lib/messages/dispatch/dispatch-store.ts';
import { platformMessages } from '../lib/messages/dispatch/platform-messages.ts';
import { dispatchQueue } from '../lib/messages/fan-out/dispatch-queue.ts';
import { log } from '../lib/observe/log.ts';
import { metered } from '../lib/observe/metrics.ts';
import { platformCredentials } from '../lib/platform/credentials.ts';
import { platformTransport } from '../lib/platform/transport.ts';
import { eventQueue } from '../lib/webhooks/event-queue.ts';

type Collaborators = Omit<DispatchPorts, 'invocation' | 'remainingMs'> & {
  readonly dropIdleConnections: () => void;
};

/** Consumer of the dispatch queue: hands each message to the platform once (D29) and reports what must come again. */
export function messagesDispatch({ dropIdleConnections, ...ports }: Collaborators) {
  return async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    dropIdleConnections();
    const invocation = randomUUID();
    const remainingMs = () => context.getRemainingTimeInMillis();
    const failedIds = await metered(() => dispatchBatch(event.Records, { ...ports, invocation, remainingMs }));
    return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}

const readSecret = secretReader();
const credentialsSecret = environmentVariable('PLATFORM_CREDENTIALS_SECRET');
const platform = platformTransport({
  baseUrl: environmentVariable('PLATFORM_BASE_URL'),
  version: environmentVariable('PLATFORM_VERSION'),
  timeoutMs: platformCallTimeoutMs,
});

const sqs = queueClient();

export const handler = messagesDispatch({
  claims: dispatchStore({
    client: documentClient(),
    table: environmentVariable('MESSAGES_TABLE'),
    nowMs: Date.now,
  }),
  queue: dispatchQueue(sqs, environmentVariable('DISPATCH_QUEUE_URL')),
  events: eventQueue(sqs, environmentVariable('EVENT_QUEUE_URL')),
  send: platformMessages(
    platform.call,
    platformCredentials(() => readSecret(credentialsSecret), Date.now),
  ),
  dropIdleConnections: platform.dropIdleConnections,
  nowMs: Date.now,
  random: Math.random,
  pause: (ms) => pause(ms),
  log,
});
