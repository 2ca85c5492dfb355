import { Refusal } from '../../http/refusal.ts';
import type { TemplateRow } from './row.ts';
import type { TemplateDocument } from './template.ts';
import { type DocumentAddress, documentId, parseDocumentId } from './template-key.ts';

export interface RowName {
  readonly clientId: number;
  readonly templateKey: string;
}

export type RowLookup = (name: RowName) => TemplateRow | undefined;

/** Parses the address in a `messageTemplateId`. Refuses with 404 text that can be no `_id`. */
export function addressOf(messageTemplateId: string, advice?: string): DocumentAddress {
  const address = parseDocumentId(messageTemplateId);
  if (address === undefined) throw templateNotFound(advice);
  return address;
}

/** Returns the owner's row that holds this document, or undefined for a deleted template. */
export function rowOfDocument(rows: RowLookup, address: DocumentAddress): TemplateRow | undefined {
  const row = rows(address);
  const exists = row?.deleted === false && row.documents.some(({ id }) => id === documentId(address));
  return exists ? row : undefined;
}

/**
 * Returns a client's row of the template of a document, which may belong to another client of the WABA (D12). Returns
 * undefined for an unknown document, a deleted template, and a client without a row.
 */
export function rowForClient(rows: RowLookup, address: DocumentAddress, clientId: number): TemplateRow | undefined {
  if (rowOfDocument(rows, address) === undefined) return undefined;
  const row = rows({ clientId, templateKey: address.templateKey });
  return row?.deleted === false ? row : undefined;
}

export type IsValidPair = (pair: NonNullable<TemplateDocument['pair']>) => boolean;

/**
 * Returns the documents that listings and bulk status count (D15): those whose channel and campaign exist, else the
 * oldest as placeholder (D12). Nothing is written, so assignments return with a channel or campaign that is provisioned
 * again.
 */
export function validDocuments(
  documents: readonly TemplateDocument[],
  stands: IsValidPair,
): readonly TemplateDocument[] {
  const standing = documents.filter(({ pair }) => pair !== undefined && stands(pair));
  return standing.length > 0 ? standing : documents.slice(0, 1).map(({ id }) => ({ id }));
}

/** Returns the 404 of every route that names a template by its `_id` (contract, Errors); `advice` ends its message. */
export function templateNotFound(advice = ''): Refusal {
  return new Refusal('template_not_found', `template not found${advice}`);
}
