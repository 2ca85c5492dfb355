import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';

/** Sets the visibility time-out of a delivery. Throws when the queue fails. */
export function visibilityOf(
  client: SQSClient,
  queueUrl: string,
): (receiptHandle: string, seconds: number) => Promise<void> {
  return async (receiptHandle, seconds) => {
    await client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: queueUrl,
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: seconds,
      }),
    );
  };
}

/** Sets the visibility time-out of up to ten deliveries in work. One that is no longer in flight needs none. */
export function holdOf(
  client: SQSClient,
  queueUrl: string,
): (receiptHandles: readonly string[], seconds: number) => Promise<void> {
  return async (receiptHandles, seconds) => {
    await client.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl: queueUrl,
        Entries: receiptHandles.map((receiptHandle, position) => ({
          Id: String(position),
          ReceiptHandle: receiptHandle,
          VisibilityTimeout: seconds,
        })),
      }),
    );
  };
}
