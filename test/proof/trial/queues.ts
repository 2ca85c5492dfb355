import {
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { RunningStack } from '../../../infra/local/stack.ts';
import { deadLettersOf, queuePurposes, resourceName } from '../../../infra/names.ts';

type QueueName = keyof typeof queuePurposes;

export interface StackQueues {
  /** Redelivers unacknowledged messages after so long, instead of after minutes. */
  shortenVisibility(seconds: number): Promise<void>;
  /** Redelivers up to ten waiting messages, as a standard queue may: the originals stay. Returns how many. */
  deliverTwice(queue: QueueName, delaySeconds: number): Promise<number>;
  /** Returns how many messages wait, are delayed, or are in flight. */
  held(queues: readonly QueueName[]): Promise<number>;
  /** Counts the dead letters of each queue that has some. */
  dead(): Promise<ReadonlyMap<QueueName, number>>;
  close(): void;
}

export function stackQueues({ addresses, template }: RunningStack): StackQueues {
  const client = new SQSClient({
    endpoint: addresses.sqsEndpoint,
    region: addresses.region,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const urlOfName = (name: string) => addresses.queueUrls[name] ?? '';
  const urlOf = (queue: QueueName) => urlOfName(resourceName(addresses.stage, queuePurposes[queue]));
  const heldAt = async (url: string) => {
    const { Attributes = {} } = await client.send(
      new GetQueueAttributesCommand({
        QueueUrl: url,
        AttributeNames: [
          'ApproximateNumberOfMessages',
          'ApproximateNumberOfMessagesDelayed',
          'ApproximateNumberOfMessagesNotVisible',
        ],
      }),
    );
    return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
  };
  const sum = async (urls: readonly string[]) =>
    (await Promise.all(urls.map(heldAt))).reduce((all, one) => all + one, 0);
  return {
    shortenVisibility: async (seconds) => {
      const Attributes = { VisibilityTimeout: String(seconds) };
      for (const { queueName } of template.eventSources) {
        await client.send(new SetQueueAttributesCommand({ QueueUrl: urlOfName(queueName), Attributes }));
      }
    },
    deliverTwice: async (queue, delaySeconds) => {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: urlOf(queue),
          MaxNumberOfMessages: 10,
          VisibilityTimeout: 1,
          // The workers of an idle queue take messages at once, so only a consumer that long-polls gets some of them.
          WaitTimeSeconds: 2,
          MessageAttributeNames: ['All'],
        }),
      );
      for (const { Body: MessageBody, MessageAttributes } of Messages) {
        const copy = { MessageBody, MessageAttributes, DelaySeconds: delaySeconds };
        await client.send(new SendMessageCommand({ QueueUrl: urlOf(queue), ...copy }));
      }
      return Messages.length;
    },
    held: (queues) => sum(queues.map(urlOf)),
    dead: async () => {
      const names = Object.keys(queuePurposes) as QueueName[];
      const deadUrl = (name: QueueName) => urlOfName(resourceName(addresses.stage, deadLettersOf(queuePurposes[name])));
      const counted = await Promise.all(names.map(async (name) => [name, await heldAt(deadUrl(name))] as const));
      return new Map(counted.filter(([, count]) => count > 0));
    },
    close: () => client.destroy(),
  };
}
