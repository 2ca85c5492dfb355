import { documentId, templateKey } from '../../lib/templates/model/template-key.ts';
import { templateStore } from '../../lib/templates/model/template-store.ts';
import type { runningTarget } from './running-target.ts';
import { makeTemplate } from './templates.ts';

/**
 * Stores a template of client 1001 that the platform does not know, so that it can be deleted. Returns its document id;
 * the test erases it by its name.
 */
export async function forgottenTemplate(
  { documentClient, tableName }: ReturnType<typeof runningTarget>,
  name: string,
): Promise<string> {
  const wabaId = '200000000000001';
  const template = makeTemplate({ name, id: '1' });
  const templates = templateStore(documentClient, tableName('templates'));
  await templates.refresh({ wabaId, clientIds: [1001] }, template, Date.now());
  return documentId({ templateKey: templateKey({ wabaId, ...template }), clientId: 1001, sequence: 0 });
}
