import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';
import { CommandError } from '../command.ts';
import type { OpenQueue } from '../target.ts';

/** Returns SQS's approximate count, which includes letters that another run holds. */
export async function countOf({ client, url }: OpenQueue): Promise<number> {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl: url,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  );
  return Object.values(Attributes).reduce((sum, text) => sum + Number(text), 0);
}

/** This run has hidden the letter from others. */
export interface Letter {
  readonly id: string;
  readonly body: string;
  readonly group: string;
  /** The first send had this time; absent when the server does not tell it. */
  readonly sentMs?: number;
}

function letterOf({ MessageId: id = '', Body: body = '', Attributes }: Message): Letter {
  const sentMs = Number(Attributes?.SentTimestamp);
  return { id, body, group: Attributes?.MessageGroupId ?? id, ...(sentMs > 0 ? { sentMs } : {}) };
}

/** A read letter stays hidden this long, also when the run dies. */
const hiddenSeconds = 120;
/** A long poll asks all servers of the queue; an empty one is repeated once. */
const emptyReceives = 2;

/** One run reads a dead-letter queue through this. */
export interface DeadLetters {
  /** Yields all letters, each once. Its end makes those that are not removed visible to others at once. */
  all(): AsyncGenerator<Letter[]>;
  /** Throws `CommandError` when a letter is not deleted, because the next run would take it again. */
  remove(letters: readonly Letter[]): Promise<void>;
}

/** Reads with long polls; what it has read stays hidden for two minutes, also when the run dies. */
export function readDeadLetters(queue: OpenQueue): DeadLetters {
  const { client, url } = queue;
  /** By message, the newest handle of each letter that this run holds; SQS may ignore an older one. */
  const held = new Map<string, string>();

  async function receive(): Promise<Letter[]> {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        ...{ QueueUrl: url, MaxNumberOfMessages: 10, WaitTimeSeconds: 1, VisibilityTimeout: hiddenSeconds },
        MessageSystemAttributeNames: ['All'],
      }),
    );
    for (const { MessageId = '', ReceiptHandle = '' } of Messages) held.set(MessageId, ReceiptHandle);
    return Messages.map(letterOf);
  }

  return {
    all: async function* () {
      const seen = new Set<string>();
      // Held letters come back in a long run. They end it only when each of them comes twice without a new one.
      const again = new Set<string>();
      try {
        for (let empty = 0; empty < emptyReceives; ) {
          const letters = await receive();
          const fresh = letters.filter(({ id }) => !seen.has(id));
          empty = letters.every(({ id }) => again.has(id)) ? empty + 1 : 0;
          if (fresh.length > 0) again.clear();
          else for (const { id } of letters) again.add(id);
          for (const { id } of fresh) seen.add(id);
          if (fresh.length > 0) yield fresh;
        }
      } finally {
        await makeVisible(queue, [...held.values()]);
      }
    },

    remove: async (letters) => {
      if (letters.length === 0) return;
      const Entries = letters.map(({ id }, position) => ({ Id: String(position), ReceiptHandle: held.get(id) }));
      const { Failed = [] } = await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
      if (Failed.length > 0)
        throw new CommandError(`${Failed.length} dead letters could not be deleted: the next run takes them again`, 1);
      for (const { id } of letters) held.delete(id);
    },
  };
}

/** A letter that became visible by itself is skipped. */
async function makeVisible({ client, url }: OpenQueue, handles: readonly string[]): Promise<void> {
  for (let at = 0; at < handles.length; at += 10) {
    const Entries = handles.slice(at, at + 10).map((handle, position) => ({
      ...{ Id: String(position), ReceiptHandle: handle, VisibilityTimeout: 0 },
    }));
    await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }));
  }
}
