import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { configKey, deliveryKey } from '../../lib/webhooks/items.ts';
import { runningTarget } from './running-target.ts';

/** Deletes a client's webhook configuration: otherwise its choice of event kinds stays. */
export async function forgetWebhook(clientId: number): Promise<void> {
  const { documentClient, tableName } = runningTarget();
  for (const Key of [configKey(clientId), deliveryKey(clientId)]) {
    await documentClient.send(new DeleteCommand({ TableName: tableName('webhooks'), Key }));
  }
}
