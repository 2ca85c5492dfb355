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
 * Creates the template's tables with their indexes and TTL. Tables that exist already (a server that keeps its data
 * between starts) are left as they are, apart from TTL, which is switched on where it is missing. DynamoDB Local deletes
 * expired items by itself about every ten seconds (AWS: within days), except those without the key of an index.
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

/** Switching on what is on already is refused by DynamoDB, hence the look first. */
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
