import { hashKey } from '../../keys/hash-key.ts';
import { languageKey } from './template.ts';

const keyCharacters = 16;

/**
 * Returns the key of one template of a WABA: 16 characters of lower-case base32 (80 bits of SHA-256 over WABA, name and
 * language key). The key is computed, so no index is needed.
 */
export function templateKey(template: {
  readonly wabaId: string;
  readonly name: string;
  readonly language: string;
}): string {
  return hashKey([template.wabaId, template.name, languageKey(template.language)], keyCharacters);
}

/** Returns the key of a name of a WABA, for all languages. */
export function nameKey({ wabaId, name }: { readonly wabaId: string; readonly name: string }): string {
  return hashKey(['name', wabaId, name], keyCharacters);
}

/** A document's `_id` has these parts (D12). */
export interface DocumentAddress {
  readonly templateKey: string;
  readonly clientId: number;
  /** The sequence counts the client's documents of this template from 0; a number is never reused. */
  readonly sequence: number;
}

/** Spells the `_id` of a document: `<templateKey>-<clientId in base 36>-<sequence in base 36>`. */
export function documentId(address: DocumentAddress): string {
  return `${address.templateKey}-${address.clientId.toString(36)}-${address.sequence.toString(36)}`;
}

const documentIdPattern = /^([a-z2-7]{16})-([1-9a-z][0-9a-z]{0,10})-(0|[1-9a-z][0-9a-z]{0,10})$/;

/** Inverts `documentId`; returns undefined for other text, so that every document has one spelling. */
export function parseDocumentId(id: string): DocumentAddress | undefined {
  const [, key, client, sequence] = documentIdPattern.exec(id) ?? [];
  if (key === undefined || client === undefined || sequence === undefined) return undefined;
  const address = {
    templateKey: key,
    clientId: Number.parseInt(client, 36),
    sequence: Number.parseInt(sequence, 36),
  };
  return Number.isSafeInteger(address.clientId) && Number.isSafeInteger(address.sequence) ? address : undefined;
}
