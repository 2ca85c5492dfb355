import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { ProvisionedItem } from './provisioned-items.ts';

/** Writes one item, leaving attributes that provisioning does not know as they are. */
export type WriteProvisionedItem = (item: ProvisionedItem) => Promise<void>;

export function provisioningStore(client: DynamoDBDocumentClient, tableName: string): WriteProvisionedItem {
  return async ({ key, attributes, whenAbsent = {} }) => {
    const names = [...Object.keys(attributes), ...Object.keys(whenAbsent)];
    const assignments = names.map((name, index) =>
      name in attributes ? `#a${index} = :a${index}` : `#a${index} = if_not_exists(#a${index}, :a${index})`,
    );
    const values = { ...whenAbsent, ...attributes };
    await client.send(
      new UpdateCommand({
        TableName: tableName,
        Key: key,
        UpdateExpression: `SET ${assignments.join(', ')}`,
        ExpressionAttributeNames: Object.fromEntries(names.map((name, index) => [`#a${index}`, name])),
        ExpressionAttributeValues: Object.fromEntries(names.map((name, index) => [`:a${index}`, values[name]])),
      }),
    );
  };
}
