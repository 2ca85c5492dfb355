import type { Waba } from '../access/directory.ts';
import { templateNotFound } from './document.ts';
import type { TemplateRow } from './row.ts';
import type { TemplateStore } from './store.ts';
import type { StoredFact } from './template.ts';
import { parseDocumentId } from './template-key.ts';

export interface FoundTemplate {
  readonly templateKey: string;
  readonly fact: StoredFact;
  /** Clients of the WABA that have documents of it. */
  readonly clientIds: readonly number[];
  /** Theirs, one each. */
  readonly rows: readonly TemplateRow[];
}

/**
 * The template that a `messageTemplateId` names on a WABA: any document of any client of that WABA names it (D12). Refuses
 * with 404 what no document has, what belongs to another WABA and what is deleted. One DynamoDB request.
 */
export async function findTemplate(
  templates: Pick<TemplateStore, 'stateOf'>,
  waba: Pick<Waba, 'wabaId' | 'clientIds'>,
  messageTemplateId: string,
): Promise<FoundTemplate> {
  const address = parseDocumentId(messageTemplateId);
  if (address === undefined || !waba.clientIds.includes(address.clientId)) throw templateNotFound();
  const { templateKey } = address;
  const { fact, rows } = await templates.stateOf(templateKey, waba.clientIds);
  const named = rows.some((row) => row.documents.some((document) => document.id === messageTemplateId));
  if (fact === undefined || fact.deleted || fact.wabaId !== waba.wabaId || !named) throw templateNotFound();
  return { templateKey, fact, clientIds: rows.map((row) => row.clientId), rows };
}
