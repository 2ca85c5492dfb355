import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { templateKey } from '../../lib/templates/template-key.ts';
import { factKey, rowKey } from '../../lib/templates/upstream-writes.ts';
import type { runningTarget } from './running-target.ts';

/** Removes a template of the shared WABA from the store as if it had never been, so that no other file meets it. */
export async function eraseTemplate(target: ReturnType<typeof runningTarget>, name: string): Promise<void> {
  const key = templateKey({ wabaId: '200000000000001', name, language: 'en_US' });
  for (const Key of [factKey(key), rowKey(1001, key), rowKey(1002, key)]) {
    await target.documentClient.send(new DeleteCommand({ TableName: target.tableName('templates'), Key }));
  }
}
