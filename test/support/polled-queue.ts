import { randomUUID } from 'node:crypto';
import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { onTestFinished, vi } from 'vitest';
import type { LocalEventSource, LocalQueue } from '../../infra/local/local-template.ts';
import { type Poller, type PollerOptions, startPoller } from '../../infra/local/poller.ts';
import { createQueues, queueUrlAt } from '../../infra/local/queues.ts';
import { addressOf } from './addresses.ts';
import { localQueueClient } from './stores.ts';

export const queueUrl = queueUrlAt(addressOf('sqsEndpoint'));

/** The time is longer than a test, so that no message becomes visible again by itself. */
const neverSeconds = 600;

/** Handles a batch in place of a function; its result is the function's answer. */
export type Handle = (records: readonly SQSRecord[]) => unknown;

/**
 * Creates a queue of its own (with a dead-letter queue `<name>-dead`), a client for it, and pollers that end with the
 * test.
 */
export async function polledQueue(facts: Partial<LocalQueue> & { readonly maxReceiveCount?: number } = {}) {
  const { maxReceiveCount = 1_000, ...attributes } = facts;
  const name = `queue-${randomUUID()}`;
  const dead = `${name}-dead`;
  const defaults = { visibilityTimeoutSeconds: neverSeconds, delaySeconds: 0, retentionSeconds: 345_600 };
  const client: SQSClient = localQueueClient();
  onTestFinished(() => client.destroy());
  const create = () =>
    createQueues({
      client,
      queueUrl,
      queues: [
        { id: dead, name: dead, ...defaults },
        { id: name, name, ...defaults, redrive: { deadLetterQueueName: dead, maxReceiveCount }, ...attributes },
      ],
    });

  const send = async (bodies: readonly string[], more: Partial<SendMessageBatchRequestEntry> = {}): Promise<void> => {
    for (let start = 0; start < bodies.length; start += 10) {
      const Entries = bodies
        .slice(start, start + 10)
        .map((MessageBody, index) => ({ Id: String(index), MessageBody, ...more }));
      await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl(name), Entries }));
    }
  };

  /** Counts messages waiting, in flight and delayed, of the queue or of its dead-letter queue. */
  const counts = async (queueName = name): Promise<{ waiting: number; inFlight: number; delayed: number }> => {
    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: queueUrl(queueName), AttributeNames: ['All'] }),
    );
    return {
      waiting: Number(Attributes?.ApproximateNumberOfMessages),
      inFlight: Number(Attributes?.ApproximateNumberOfMessagesNotVisible),
      delayed: Number(Attributes?.ApproximateNumberOfMessagesDelayed),
    };
  };

  /** Makes a message visible at once, as a function may do before it reports the message as failed. */
  const makeVisible = async (record: SQSRecord): Promise<void> => {
    const { receiptHandle: ReceiptHandle } = record;
    await client.send(
      new ChangeMessageVisibilityCommand({ QueueUrl: queueUrl(name), ReceiptHandle, VisibilityTimeout: 0 }),
    );
  };

  const poll = (
    handle: Handle,
    source: Partial<LocalEventSource> = {},
    options: Partial<PollerOptions> = {},
  ): Poller => {
    const defaultSource = { batchSize: 10, windowSeconds: 0, reportBatchItemFailures: true };
    const poller = startPoller({
      client,
      queueUrl,
      eventSources: [{ functionId: 'worker', queueName: name, ...defaultSource, ...source }],
      runner: { invoke: (_, event) => invoked(handle, event) },
      report: () => undefined,
      ...options,
    });
    onTestFinished(() => poller.stop(0));
    return poller;
  };
  return { name, dead, client, create, send, counts, makeVisible, poll };
}

async function invoked(handle: Handle, event: unknown) {
  try {
    return { ok: true as const, payload: await handle((event as { Records: SQSRecord[] }).Records) };
  } catch (error) {
    return { ok: false as const, error: 'threw', message: String(error) };
  }
}

/** Polls until an assertion holds. The timeout is nearly that of a test, for busy machines. */
export function eventually(assertion: () => unknown): Promise<unknown> {
  return vi.waitFor(assertion, { timeout: 55_000, interval: 20 });
}
