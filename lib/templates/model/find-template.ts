import type { Waba } from '../../access/directory.ts';
import { Refusal } from '../../http/refusal.ts';
import { addressOf, rowOfDocument, templateNotFound } from './document.ts';
import type { TemplateRow } from './row.ts';
import { isDirectMessage, type PlatformTemplate, type StoredFact } from './template.ts';
import type { TemplateStore } from './template-store.ts';

export interface FoundTemplate {
  readonly templateKey: string;
  readonly fact: StoredFact;
  readonly clientIds: readonly number[];
  readonly rows: readonly TemplateRow[];
}

/**
 * Finds the template that any document of any client of the WABA names (D12), in one DynamoDB request. Refuses with 404
 * an unknown `_id`, another WABA's template and a deleted one.
 */
export async function findTemplate(
  templates: Pick<TemplateStore, 'stateOf'>,
  waba: Pick<Waba, 'wabaId' | 'clientIds'>,
  messageTemplateId: string,
): Promise<FoundTemplate> {
  const address = addressOf(messageTemplateId);
  const { templateKey } = address;
  const { fact, rows } = await templates.stateOf(templateKey, waba.clientIds);
  const row = rowOfDocument(({ clientId }) => rows.find((each) => each.clientId === clientId), address);
  if (row === undefined || fact?.wabaId !== waba.wabaId || fact.deleted) throw templateNotFound();
  return { templateKey, fact, clientIds: rows.map(({ clientId }) => clientId), rows };
}

/** Refuses with 409 changes that the platform forbids for templates that it has generated (D22). */
export function refuseDirectMessage(template: Pick<PlatformTemplate, 'source'>, change: 'edited' | 'deleted'): void {
  if (!isDirectMessage(template)) return;
  throw new Refusal('template_disabled', `direct-message templates cannot be ${change} through this interface`);
}
