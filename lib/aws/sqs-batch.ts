import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { present } from '../keys/present.ts';
import { queueMessageMaxBytes } from './queue-body.ts';

/** A message as a queue takes it. Its client is its message group: what keeps one client's backlog from delaying others. */
export interface QueueEntry {
  readonly body: string;
  readonly clientId: number;
  readonly delaySeconds: number;
}

const batchMaxEntries = 10;

/** Packs entries in order into batches of at most 10 messages and 1 MiB (SQS). */
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

/** Sends one batch; returns the entries that the queue refused. */
export async function sendEntries(
  queue: { readonly client: SQSClient; readonly url: string },
  entries: readonly QueueEntry[],
  abortSignal?: AbortSignal,
): Promise<readonly QueueEntry[]> {
  const batch = new SendMessageBatchCommand({
    QueueUrl: queue.url,
    Entries: entries.map((entry, position) => ({
      Id: String(position),
      MessageBody: entry.body,
      MessageGroupId: String(entry.clientId),
      DelaySeconds: entry.delaySeconds,
    })),
  });
  const { Failed = [] } = await queue.client.send(batch, present({ abortSignal }));
  const refused = new Set(Failed.map(({ Id }) => Id));
  return entries.filter((_, position) => refused.has(String(position)));
}
