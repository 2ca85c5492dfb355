import {
  CreateTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import type { LocalTable } from './local-template.ts';

/**
 * Creates the template's tables with indexes and TTL. Existing tables only get a missing TTL. DynamoDB Local deletes
 * expired items about every ten seconds (AWS: within days), except those without an index's key.
 */
export async function createTables(client: DynamoDBClient, tables: readonly LocalTable[]): Promise<void> {
  await Promise.all(tables.map((table) => createTable(client, table)));
}

async function createTable(client: DynamoDBClient, table: LocalTable): Promise<void> {
  const indexes = table.globalSecondaryIndexes;
  try {
    await client.send(
      new CreateTableCommand({
        TableName: table.name,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: table.attributeDefinitions,
        KeySchema: table.keySchema,
        ...(indexes.length === 0 ? {} : { GlobalSecondaryIndexes: indexes }),
      }),
    );
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
  await waitUntilTableExists({ client, minDelay: 1, maxDelay: 1, maxWaitTime: 30 }, { TableName: table.name });
  if (table.ttlAttribute !== undefined) await switchTtlOn(client, table.name, table.ttlAttribute);
}

/** DynamoDB refuses to switch on TTL twice, so the state is read first. */
async function switchTtlOn(client: DynamoDBClient, tableName: string, attribute: string): Promise<void> {
  const { TimeToLiveDescription: now } = await client.send(new DescribeTimeToLiveCommand({ TableName: tableName }));
  if (now?.TimeToLiveStatus === 'ENABLED' && now.AttributeName === attribute) return;
  await client.send(
    new UpdateTimeToLiveCommand({
      TableName: tableName,
      TimeToLiveSpecification: { AttributeName: attribute, Enabled: true },
    }),
  );
}
