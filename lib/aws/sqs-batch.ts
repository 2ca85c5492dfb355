import { SendMessageBatchCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { OutOfReach } from './out-of-reach.ts';
import { queueMessageMaxBytes } from './queue-body.ts';

/** Its group (a client, a WABA) keeps one group's backlog from delaying others. */
export interface QueueEntry {
  readonly body: string;
  readonly group: string;
  readonly delaySeconds: number;
}

export interface SentQueue {
  readonly client: SQSClient;
  readonly url: string;
}

const batchMaxEntries = 10;

/** Packs batches of at most 10 messages and 1 MiB (SQS), in order. */
export function packEntries(entries: Iterable<QueueEntry>): QueueEntry[][] {
  const batches: QueueEntry[][] = [];
  let current: QueueEntry[] = [];
  let currentBytes = 0;
  for (const entry of entries) {
    const bytes = Buffer.byteLength(entry.body);
    if (current.length === batchMaxEntries || currentBytes + bytes > queueMessageMaxBytes) {
      batches.push(current);
      current = [];
      currentBytes = 0;
    }
    current.push(entry);
    currentBytes += bytes;
  }
  if (current.length > 0) batches.push(current);
  return batches;
}

/**
 * Sends one message. Rejects without a confirmation, although the message may be there; the SDK's retries may duplicate
 * it.
 */
export async function sendEntry(queue: SentQueue, entry: QueueEntry, abortSignal?: AbortSignal): Promise<void> {
  const message = new SendMessageCommand({
    QueueUrl: queue.url,
    MessageBody: entry.body,
    MessageGroupId: entry.group,
    DelaySeconds: entry.delaySeconds,
  });
  await queue.client.send(message, { abortSignal });
}

/** Single messages of one kind leave by this port. It rejects when the queue did not confirm, as `sendEntry` does. */
export interface DelayedQueue<Message> {
  /** The message becomes visible after `delaySeconds`, at most 900. */
  sendLater(message: Message, delaySeconds: number): Promise<void>;
}

/** Sends one request a message; `groupOf` is its message group, so that no client or WABA delays others. */
export function delayedQueue<Message>(
  queue: SentQueue,
  encode: (message: Message) => string,
  groupOf: (message: Message) => string,
): DelayedQueue<Message> {
  return {
    sendLater: (message, delaySeconds) =>
      sendEntry(queue, { body: encode(message), group: groupOf(message), delaySeconds }),
  };
}

/** Sends one batch; returns the entries that the queue refused. */
export async function sendEntries(
  queue: SentQueue,
  entries: readonly QueueEntry[],
  abortSignal?: AbortSignal,
): Promise<readonly QueueEntry[]> {
  const batch = new SendMessageBatchCommand({
    QueueUrl: queue.url,
    Entries: entries.map((entry, position) => ({
      Id: String(position),
      MessageBody: entry.body,
      MessageGroupId: entry.group,
      DelaySeconds: entry.delaySeconds,
    })),
  });
  const { Failed = [] } = await queue.client.send(batch, { abortSignal });
  const refused = new Set(Failed.map(({ Id }) => Id));
  return entries.filter((_, position) => refused.has(String(position)));
}

/**
 * Sends all entries with requests side by side, in one round trip. Throws when any may be missing. It does not retry,
 * because its senders' own callers do.
 */
export async function sendAtOnce(
  queue: SentQueue,
  entries: readonly QueueEntry[],
  abortSignal?: AbortSignal,
): Promise<void> {
  const refused = await Promise.all(packEntries(entries).map((batch) => sendEntries(queue, batch, abortSignal)));
  const { length } = refused.flat();
  if (length > 0) throw new OutOfReach(`the queue refused ${length} messages`);
}
