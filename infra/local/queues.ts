import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  type QueueAttributeName,
  QueueDoesNotExist,
  SetQueueAttributesCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { omitUndefined } from '../../lib/keys/omit-undefined.ts';
import { localAccountId } from './intrinsics.ts';
import type { LocalQueue } from './local-template.ts';
import { queueArn } from './physical-names.ts';

/**
 * Builds the URL of a queue on a local SQS server. The SDK connects to its origin, and the URL that fauxqs returns from
 * CreateQueue does not resolve.
 */
export function queueUrlAt(sqsEndpoint: string): (queueName: string) => string {
  const { origin } = new URL(sqsEndpoint);
  return (queueName) => `${origin}/${localAccountId}/${queueName}`;
}

export interface QueuesOptions {
  readonly client: SQSClient;
  readonly queues: readonly LocalQueue[];
  readonly queueUrl: (queueName: string) => string;
}

/** Dead-letter queues come first. Existing queues keep their messages and get the template's attributes. */
export async function createQueues({ client, queues, queueUrl }: QueuesOptions): Promise<void> {
  const deadLetterFirst = queues.toSorted(
    (left, right) => Number(left.redrive !== undefined) - Number(right.redrive !== undefined),
  );
  for (const queue of deadLetterFirst) {
    const url = queueUrl(queue.name);
    if (await exists(client, url)) {
      // An empty policy removes an earlier one.
      const attributes = { RedrivePolicy: '', ...attributesOf(queue) };
      await client.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: attributes }));
    } else {
      await client.send(new CreateQueueCommand({ QueueName: queue.name, Attributes: attributesOf(queue) }));
    }
  }
}

async function exists(client: SQSClient, queueUrl: string): Promise<boolean> {
  try {
    await client.send(new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['QueueArn'] }));
    return true;
  } catch (error) {
    if (error instanceof QueueDoesNotExist) return false;
    throw error;
  }
}

function attributesOf(queue: LocalQueue): Partial<Record<QueueAttributeName, string>> {
  const { redrive } = queue;
  return {
    VisibilityTimeout: String(queue.visibilityTimeoutSeconds),
    DelaySeconds: String(queue.delaySeconds),
    MessageRetentionPeriod: String(queue.retentionSeconds),
    ...omitUndefined({
      RedrivePolicy:
        redrive &&
        JSON.stringify({
          deadLetterTargetArn: queueArn(redrive.deadLetterQueueName),
          maxReceiveCount: redrive.maxReceiveCount,
        }),
    }),
  };
}
