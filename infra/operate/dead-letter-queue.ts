import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';
import type { OpenQueue } from './target.ts';

/** By SQS's own count, which is approximate: letters that another run holds are in it. */
export async function countOf({ client, url }: OpenQueue): Promise<number> {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl: url,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  );
  return Object.values(Attributes).reduce((sum, text) => sum + Number(text), 0);
}

/** A dead letter that is hidden from others. */
export interface Letter {
  readonly id: string;
  readonly handle: string;
  readonly body: string;
  readonly group: string;
  /** When it was first queued; absent where the server does not say it. */
  readonly sentMs?: number;
}

function letterOf({ MessageId: id = '', ReceiptHandle: handle = '', Body: body = '', Attributes }: Message): Letter {
  const sentMs = Number(Attributes?.SentTimestamp);
  return { id, handle, body, group: Attributes?.MessageGroupId ?? id, ...(sentMs > 0 ? { sentMs } : {}) };
}

/** A letter that was looked at is hidden so long: a run that dies leaves them so. */
const hiddenSeconds = 120;
/** A receive asks all servers of the queue where it waits; one that finds nothing is asked once more. */
const emptyReceives = 2;

/** Dead letters, each once, until there is none any more. Consuming a letter or giving it back is the caller's. */
export async function* lettersOf({ client, url }: OpenQueue): AsyncGenerator<Letter[]> {
  const seen = new Set<string>();
  for (let empty = 0; empty < emptyReceives; ) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        ...{ QueueUrl: url, MaxNumberOfMessages: 10, WaitTimeSeconds: 1, VisibilityTimeout: hiddenSeconds },
        MessageSystemAttributeNames: ['All'],
      }),
    );
    const fresh = Messages.map(letterOf).filter(({ id }) => !seen.has(id));
    for (const { id } of fresh) seen.add(id);
    empty = fresh.length === 0 ? empty + 1 : 0;
    if (fresh.length > 0) yield fresh;
  }
}

/** Lets others, and the next run, see letters at once. One that has come back by itself is left alone. */
export async function giveBack({ client, url }: OpenQueue, letters: readonly Letter[]): Promise<void> {
  for (let at = 0; at < letters.length; at += 10) {
    const Entries = letters.slice(at, at + 10).map(({ handle }, position) => ({
      ...{ Id: String(position), ReceiptHandle: handle, VisibilityTimeout: 0 },
    }));
    await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }));
  }
}

/** Throws where one is not deleted: it would be sent again by the next run. */
export async function remove({ client, url }: OpenQueue, letters: readonly Letter[]): Promise<void> {
  if (letters.length === 0) return;
  const Entries = letters.map(({ handle }, position) => ({ Id: String(position), ReceiptHandle: handle }));
  const { Failed = [] } = await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
  if (Failed.length > 0) throw new Error(`${Failed.length} dead letters were sent again and could not be deleted`);
}
