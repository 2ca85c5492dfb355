import { ChangeMessageVisibilityCommand, type SQSClient } from '@aws-sdk/client-sqs';

/** Sets when a delivery of that queue becomes visible again. Throws when the queue cannot be reached. */
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
