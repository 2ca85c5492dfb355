import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { BatchWriteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { documents, environmentVariable, optionalVariable, queues } from '../../lib/aws/deployed.ts';

/* A bare handler for the benchmark of acceptance: it parses a send, stores its bytes and queues one message, with the
   same pages, and knows no rule. Its clients are ours, or the SDK's as they come. */

const recipientsPerPage = 625;
const table = environmentVariable('MESSAGES_TABLE');
const queueUrl = environmentVariable('DISPATCH_QUEUE_URL');
const clients =
  optionalVariable('CLIENTS_OF_BARE_HANDLER') === 'ours'
    ? { documents: documents(), queues: queues() }
    : {
        documents: DynamoDBDocumentClient.from(new DynamoDBClient()),
        queues: new SQSClient({ useQueueUrlAsEndpoint: false }),
      };

export async function handler(event: { readonly body: string }) {
  const { recipients, ...head } = JSON.parse(event.body) as { readonly recipients: readonly unknown[] };
  const dispatchId = randomUUID();
  const pages = Array.from({ length: Math.ceil(recipients.length / recipientsPerPage) }, (_, page) => ({
    pk: `BARE#${dispatchId}`,
    sk: String(page),
    head: JSON.stringify(head),
    recipients: JSON.stringify(recipients.slice(page * recipientsPerPage, (page + 1) * recipientsPerPage)),
  }));
  const writes = pages.map((Item) => ({ PutRequest: { Item } }));
  await clients.documents.send(new BatchWriteCommand({ RequestItems: { [table]: writes } }));
  await clients.queues.send(
    new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: JSON.stringify({ dispatchId }) }),
  );
  return { statusCode: 200, body: '{"success":true}' };
}
