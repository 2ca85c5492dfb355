import type { Directory } from '../access/directory.ts';
import { rowForClient, templateNotFound } from '../templates/document.ts';
import type { TemplateRow } from '../templates/row.ts';
import type { RowStore } from '../templates/row-store.ts';
import { parseDocumentId } from '../templates/template-key.ts';

/** The template that a path names, for the client that the request works for. */
export interface NamedTemplate {
  readonly messageTemplateId: string | undefined;
  readonly clientId: number;
}

/**
 * The client's row of the template that any of its `_id`s names (D12), read in one round trip. Refuses with 404 an `_id` that
 * no document has, a deleted template, and a template of a WABA that the client is not on: the three look alike.
 */
export async function templateOfClient(
  stores: { readonly directory: Pick<Directory, 'listWabas'>; readonly rows: RowStore },
  { messageTemplateId = '', clientId }: NamedTemplate,
): Promise<TemplateRow> {
  const address = parseDocumentId(messageTemplateId);
  if (address === undefined) throw templateNotFound();
  const [rows, wabas] = await Promise.all([
    stores.rows.findRows([address, { clientId, templateKey: address.templateKey }]),
    stores.directory.listWabas(clientId),
  ]);
  const row = rowForClient(rows, address, clientId);
  if (row === undefined || !wabas.some(({ wabaId }) => wabaId === row.wabaId)) throw templateNotFound();
  return row;
}
