import { ChangeMessageVisibilityCommand, type SQSClient } from '@aws-sdk/client-sqs';

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
