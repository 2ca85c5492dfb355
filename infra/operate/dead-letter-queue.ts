import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';
import type { OpenQueue } from './target.ts';

/** SQS's approximate count, which includes letters that another run holds. */
export async function countOf({ client, url }: OpenQueue): Promise<number> {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl: url,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  );
  return Object.values(Attributes).reduce((sum, text) => sum + Number(text), 0);
}

/** A dead letter that this run has hidden. */
export interface Letter {
  readonly id: string;
  readonly handle: string;
  readonly body: string;
  readonly group: string;
  /** The time of its first send; absent when the server does not tell it. */
  readonly sentMs?: number;
}

function letterOf({ MessageId: id = '', ReceiptHandle: handle = '', Body: body = '', Attributes }: Message): Letter {
  const sentMs = Number(Attributes?.SentTimestamp);
  return { id, handle, body, group: Attributes?.MessageGroupId ?? id, ...(sentMs > 0 ? { sentMs } : {}) };
}

/** How long a read letter stays hidden, also when the run dies. */
const hiddenSeconds = 120;
/** A long poll asks all servers of the queue; an empty one is repeated once. */
const emptyReceives = 2;

/** All dead letters, each once. The caller deletes them or gives them back. */
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

/** Makes letters visible to others at once. A letter that became visible by itself is skipped. */
export async function giveBack({ client, url }: OpenQueue, letters: readonly Letter[]): Promise<void> {
  for (let at = 0; at < letters.length; at += 10) {
    const Entries = letters.slice(at, at + 10).map(({ handle }, position) => ({
      ...{ Id: String(position), ReceiptHandle: handle, VisibilityTimeout: 0 },
    }));
    await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }));
  }
}

/** Throws when a letter is not deleted, because the next run would send it again. */
export async function remove({ client, url }: OpenQueue, letters: readonly Letter[]): Promise<void> {
  if (letters.length === 0) return;
  const Entries = letters.map(({ handle }, position) => ({ Id: String(position), ReceiptHandle: handle }));
  const { Failed = [] } = await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
  if (Failed.length > 0) throw new Error(`${Failed.length} dead letters were sent again and could not be deleted`);
}
