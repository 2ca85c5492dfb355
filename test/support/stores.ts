import { randomUUID } from 'node:crypto';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateQueueCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { type TableName, tables } from '../../infra/tables.ts';
import { documentClient } from '../../lib/aws/dynamodb.ts';
import { queueClient } from '../../lib/aws/sqs.ts';
import { addressOf } from './addresses.ts';

const local = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };

/**
 * Makes the stores' document client for DynamoDB Local. Each test file makes its own table, so that files share no
 * data.
 */
export function localDocumentClient() {
  return documentClient({ ...local, endpoint: addressOf('dynamodbEndpoint') });
}

/**
 * Makes the client of tests that read tens of thousands of items at once, which takes a busy machine longer than the
 * timeout of an attempt.
 */
export function patientDocumentClient() {
  const requestHandler = { requestTimeout: 60_000, throwOnRequestTimeout: true };
  return documentClient({ ...local, endpoint: addressOf('dynamodbEndpoint'), requestHandler });
}

export function localQueueClient(): SQSClient {
  return queueClient({ ...local, endpoint: addressOf('sqsEndpoint') });
}

/** Creates an empty table with this shape and a unique name, and returns the name. */
export async function freshTable(shape: TableName): Promise<string> {
  return createTable(shape, `${shape}-${randomUUID()}`);
}

/** Creates an empty table with this shape under that name. */
export async function createTable(shape: TableName, name: string): Promise<string> {
  const client = new DynamoDBClient({ ...local, endpoint: addressOf('dynamodbEndpoint') });
  const keys = tables[shape].sortKey ? ['pk', 'sk'] : ['pk'];
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: keys.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: keys.map((AttributeName, index) => ({ AttributeName, KeyType: index === 0 ? 'HASH' : 'RANGE' })),
    }),
  );
  client.destroy();
  return name;
}

export async function freshQueue(): Promise<string> {
  const client = localQueueClient();
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: `queue-${randomUUID()}` }));
  if (QueueUrl === undefined) throw new Error('the emulator returned no queue URL');
  return QueueUrl;
}
