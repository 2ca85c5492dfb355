import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { configKey, deliveryKey } from '../../lib/webhooks/items.ts';
import { runningTarget } from './running-target.ts';

/** Has a client configure its webhook anew, as if it never had: the kinds of event that it chose stay otherwise. */
export async function forgetWebhook(clientId: number): Promise<void> {
  const { documentClient, tableName } = runningTarget();
  for (const Key of [configKey(clientId), deliveryKey(clientId)]) {
    await documentClient.send(new DeleteCommand({ TableName: tableName('webhooks'), Key }));
  }
}
