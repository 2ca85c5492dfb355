import * as v from 'valibot';
import { clientOfRow, rowPartitionPattern, templateKeyOfRow } from './items.ts';
import { contentHash, goneUpstream } from './stored-fact.ts';
import { isDirectMessage, type PlatformTemplate, type TemplateDocument } from './template.ts';
import { documentId, parseDocumentId } from './template-key.ts';

/**
 * A client's row of one template has what a listing filters and sorts by, and the client's documents (D12). Attributes
 * have one letter and frequent values a code, because listings read thousands: about 105 bytes a row.
 */
export interface TemplateRow {
  readonly clientId: number;
  readonly templateKey: string;
  readonly name: string;
  readonly language: string;
  readonly status: string;
  readonly category: string;
  readonly qualityScore?: string;
  readonly platformId: string;
  readonly wabaId: string;
  readonly contentHash: string;
  readonly deleted: boolean;
  readonly active: boolean;
  readonly isDirectMessage: boolean;
  /** The documents are oldest first, never empty. */
  readonly documents: readonly TemplateDocument[];
  readonly nextSequence: number;
}

/** A new row has the client's own part: active, with the placeholder as its first document (D13). */
export const newRowAttributes = { a: true, d: encodeDocuments([{ sequence: 0 }]), k: 1 } as const;

const codes = {
  s: { APPROVED: 'A', PENDING: 'P', REJECTED: 'R', PAUSED: 'U', DISABLED: 'D', IN_APPEAL: 'I', ARCHIVED: 'V' },
  c: { MARKETING: 'M', UTILITY: 'U', AUTHENTICATION: 'A' },
  q: { GREEN: 'G', YELLOW: 'Y', RED: 'R', UNKNOWN: 'U' },
} as const satisfies Record<string, Readonly<Record<string, string>>>;

type Coded = keyof typeof codes;

/** A value without a code is kept, marked by `=`: statuses that are unknown today must survive (D22). */
function encode(attribute: Coded, value: string): string {
  const table: Readonly<Record<string, string>> = codes[attribute];
  return Object.hasOwn(table, value) ? (table[value] as string) : `=${value}`;
}

function decode(attribute: Coded, stored: string): string {
  if (stored.startsWith('=')) return stored.slice(1);
  const found = Object.entries(codes[attribute]).find(([, code]) => code === stored);
  if (found === undefined) throw new Error(`template row: unknown code ${stored} in ${attribute}`);
  return found[0];
}

/** A decimal id takes half the bytes as a number. An id that would not survive the round trip stays text. */
function encodeId(id: string): number | string {
  return /^[1-9]\d{0,15}$/.test(id) && Number.isSafeInteger(Number(id)) ? Number(id) : id;
}

const StoredId = v.pipe(v.union([v.number(), v.string()]), v.transform(String));

const StoredRowSchema = v.object({
  pk: v.pipe(v.string(), v.regex(rowPartitionPattern)),
  sk: v.string(),
  n: v.string(),
  l: v.string(),
  s: v.string(),
  c: v.string(),
  q: v.optional(v.string()),
  p: StoredId,
  w: StoredId,
  h: v.string(),
  g: v.optional(v.boolean(), false),
  a: v.boolean(),
  d: v.string(),
  k: v.number(),
  m: v.optional(v.boolean(), false),
});

/**
 * Returns the platform's attributes that a fact sets and removes on a row. It never touches the client's own: `a`, `d`,
 * `k` and `u`.
 */
export function upstreamRowAttributes(
  wabaId: string,
  template: PlatformTemplate,
): { readonly set: Readonly<Record<string, string | number | boolean>>; readonly remove: readonly string[] } {
  const quality = template.quality_score?.score;
  const flags = { g: goneUpstream(template), m: isDirectMessage(template) };
  const raised = Object.entries(flags).filter(([, holds]) => holds);
  const lowered = Object.entries(flags).filter(([, holds]) => !holds);
  return {
    set: {
      n: template.name,
      l: template.language,
      s: encode('s', template.status),
      c: encode('c', template.category),
      p: encodeId(template.id),
      w: encodeId(wabaId),
      h: contentHash(template),
      ...(quality ? { q: encode('q', quality) } : {}),
      ...Object.fromEntries(raised),
    },
    remove: [...(quality ? [] : ['q']), ...lowered.map(([name]) => name)],
  };
}

/**
 * Returns documents as the row stores them, oldest first: `<sequence>:<channel id>:<campaign id>`, or `<sequence>` for
 * the placeholder, separated by spaces. Assignments change `d` and `k` by a compare-and-set on `d`.
 */
export function encodeDocuments(
  documents: readonly { readonly sequence: number; readonly pair?: TemplateDocument['pair'] }[],
): string {
  return documents
    .map(({ sequence, pair }) =>
      pair === undefined ? `${sequence}` : `${sequence}:${pair.channelId}:${pair.campaignId}`,
    )
    .join(' ');
}

/** Inverts the reading of documents by `rowFromItem`. */
export function documentsText(row: Pick<TemplateRow, 'documents'>): string {
  return encodeDocuments(
    row.documents.map(({ id, pair }) => {
      const address = parseDocumentId(id);
      if (address === undefined) throw new Error(`template row: ${id} is no document id`);
      return { sequence: address.sequence, pair };
    }),
  );
}

export function statusText(row: Pick<TemplateRow, 'status'>): string {
  return encode('s', row.status);
}

/**
 * Parses a stored row, and names each of its letters; throws on another item. An archived row keeps deleted documents,
 * whose `_id`s cannot be addressed.
 */
export function rowFromItem(item: unknown): TemplateRow {
  const stored = v.parse(StoredRowSchema, item);
  const clientId = clientOfRow(stored.pk);
  return {
    clientId,
    templateKey: stored.sk,
    name: stored.n,
    language: stored.l,
    status: decode('s', stored.s),
    category: decode('c', stored.c),
    qualityScore: stored.q === undefined ? undefined : decode('q', stored.q),
    platformId: stored.p,
    wabaId: stored.w,
    contentHash: stored.h,
    deleted: stored.g,
    active: stored.a,
    isDirectMessage: stored.m,
    documents: stored.d.split(' ').map((text) => decodeDocument(text, stored.sk, clientId)),
    nextSequence: stored.k,
  };
}

function decodeDocument(text: string, sk: string, clientId: number): TemplateDocument {
  const [sequence = 0, channelId, campaignId] = text.split(':').map(Number);
  const id = documentId({ templateKey: templateKeyOfRow(sk), clientId, sequence });
  return channelId === undefined || campaignId === undefined ? { id } : { id, pair: { channelId, campaignId } };
}
