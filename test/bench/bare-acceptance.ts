import { randomUUID } from 'node:crypto';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { documents, environmentVariable, queues } from '../../lib/aws/deployed.ts';

/* A bare handler for the benchmark of acceptance: it parses a send, stores its bytes and queues one message, with the
   same clients and pages, and knows no rule. */

const recipientsPerPage = 625;
const table = environmentVariable('MESSAGES_TABLE');
const queueUrl = environmentVariable('DISPATCH_QUEUE_URL');

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
  await documents().send(new BatchWriteCommand({ RequestItems: { [table]: writes } }));
  await queues().send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: JSON.stringify({ dispatchId }) }));
  return { statusCode: 200, body: '{"success":true}' };
}
