import { Refusal } from '../../http/refusal.ts';
import type { TemplateRow } from './row.ts';
import type { TemplateDocument } from './template.ts';
import { type DocumentAddress, documentId, parseDocumentId } from './template-key.ts';

/** Which client's row of which template. */
export interface RowName {
  readonly clientId: number;
  readonly templateKey: string;
}

/** Rows that were read, by name; undefined when there is none. */
export type RowLookup = (name: RowName) => TemplateRow | undefined;

/** Where the document of a `messageTemplateId` is, if there is one; refuses with 404 what can be no `_id`. */
export function addressOf(messageTemplateId: string, advice?: string): DocumentAddress {
  const address = parseDocumentId(messageTemplateId);
  if (address === undefined) throw templateNotFound(advice);
  return address;
}

/** The owner's row when it holds the document of that address and the template is not deleted; otherwise undefined. */
export function rowOfDocument(rows: RowLookup, address: DocumentAddress): TemplateRow | undefined {
  const row = rows(address);
  const exists = row?.deleted === false && row.documents.some(({ id }) => id === documentId(address));
  return exists ? row : undefined;
}

/**
 * A client's row of the template that a document belongs to: the document may be the client's own or another client's of
 * the same WABA (D12). Undefined when the document does not exist, when the template is deleted, and when the client
 * has no part in it.
 */
export function rowForClient(rows: RowLookup, address: DocumentAddress, clientId: number): TemplateRow | undefined {
  if (rowOfDocument(rows, address) === undefined) return undefined;
  const row = rows({ clientId, templateKey: address.templateKey });
  return row?.deleted === false ? row : undefined;
}

/** Whether a client still has the channel and the campaign that a document of its is assigned to. */
export type PairStands = (pair: NonNullable<TemplateDocument['pair']>) => boolean;

/**
 * A row's documents as listings and bulk status count them (D15): those whose channel and campaign still exist. When none
 * is left the template has no assignment, and its oldest document stands for the placeholder (D12). Nothing is
 * written: a channel or campaign that is provisioned again brings its assignments back.
 */
export function standingDocuments(
  documents: readonly TemplateDocument[],
  stands: PairStands,
): readonly TemplateDocument[] {
  const standing = documents.filter(({ pair }) => pair !== undefined && stands(pair));
  return standing.length > 0 ? standing : documents.slice(0, 1).map(({ id }) => ({ id }));
}

/** The 404 of every route that names a template by its `_id` (contract, Errors); `advice` ends its message. */
export function templateNotFound(advice = ''): Refusal {
  return new Refusal('template_not_found', `template not found${advice}`);
}
