import { createHash } from 'node:crypto';
import { languageKey } from './template.ts';

const base32Alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const keyBytes = 10;

/**
 * The key under which one template of a WABA is stored: 16 characters of lower-case base32 (80 bits of SHA-256 over
 * WABA, name and language key). Being computed, it needs no index: (WABA, name, language) addresses the items directly.
 */
export function templateKey(template: {
  readonly wabaId: string;
  readonly name: string;
  readonly language: string;
}): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([template.wabaId, template.name, languageKey(template.language)]))
    .digest()
    .subarray(0, keyBytes);
  let bits = '';
  for (const byte of digest) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{5}/g) ?? []).map((five) => base32Alphabet[Number.parseInt(five, 2)]).join('');
}

/** What the `_id` of a stored document says: which template, whose, and which of that client's documents (D12). */
export interface DocumentAddress {
  readonly templateKey: string;
  readonly clientId: number;
  /** Counts the client's documents of this template from 0; a number is never used twice. */
  readonly sequence: number;
}

/** The `_id` of a document: `<templateKey>-<clientId in base 36>-<sequence in base 36>`. */
export function documentId(address: DocumentAddress): string {
  return `${address.templateKey}-${address.clientId.toString(36)}-${address.sequence.toString(36)}`;
}

const documentIdPattern = /^([a-z2-7]{16})-([1-9a-z][0-9a-z]{0,10})-(0|[1-9a-z][0-9a-z]{0,10})$/;

/** The inverse of `documentId`; undefined for any text that it cannot have made, so that every document has one spelling. */
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
