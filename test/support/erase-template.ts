import { DeleteCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import { factKey, rowKey } from '../../lib/templates/model/items.ts';
import { templateKey } from '../../lib/templates/model/template-key.ts';
import type { runningTarget } from './running-target.ts';

/**
 * Removes a template and its archive from the store, so that no other file finds it. The default is a template of the
 * shared WABA in en_US.
 */
export async function eraseTemplate(
  { documentClient, tableName }: ReturnType<typeof runningTarget>,
  name: string,
  { wabaId = '200000000000001', language = 'en_US' } = {},
): Promise<void> {
  const TableName = tableName('templates');
  const key = templateKey({ wabaId, name, language });
  const keys = [factKey(key)];
  for (const clientId of [1001, 1002]) {
    const { pk } = rowKey(clientId, key);
    const rows = paginateQuery(
      { client: documentClient },
      {
        TableName,
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :key)',
        ExpressionAttributeValues: { ':pk': pk, ':key': key },
        ConsistentRead: true,
      },
    );
    for await (const { Items = [] } of rows) {
      for (const { sk } of Items) keys.push({ pk, sk }, factKey(sk));
    }
  }
  for (const Key of keys) await documentClient.send(new DeleteCommand({ TableName, Key }));
}
