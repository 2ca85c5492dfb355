import * as v from 'valibot';
import { present } from '../../keys/present.ts';
import { contentHash, goneUpstream } from './fact.ts';
import { clientOfRow, rowPartitionPattern, templateKeyOfRow } from './items.ts';
import { isDirectMessage, type PlatformTemplate, type TemplateDocument } from './template.ts';
import { documentId, parseDocumentId } from './template-key.ts';

/**
 * One client's row of one template: everything that a listing filters and sorts by, and the client's documents (D12).
 * Rows are read by the thousand, so each attribute has a name of one letter and the frequent values have a code: about
 * 105 bytes for a template with a name of 20 characters and one assigned pair. This is the one place that knows them.
 *
 * The platform's facts, written by synchronization, by refreshes and by create and edit:
 *   n name · l language · s status · c category · q quality score (absent when unknown) · p platform's template id ·
 *   w WABA id · h content hash of the fact · g gone: true when deleted (absent otherwise) ·
 *   m true for a direct-message template, which the platform has generated (absent otherwise)
 * The client's own, which no synchronization touches:
 *   a active · d documents, oldest first: `<sequence>:<channel id>:<campaign id>`, or `<sequence>` for the
 *   placeholder, parted by spaces · k next sequence · u user who created it here (absent when it came by synchronization)
 * What else a document carries along (createdBy, associatedFlow, ...) is the same for all documents of a client, so it
 * belongs here too, as further attributes that are absent when empty. Assignments change `d` and `k` with one update whose
 * condition is the `d` that was read.
 *
 * A template that is created again under a name that was deleted before has the same key. The deleted documents then move
 * into an archived row, and their fact into an archived fact, under `<templateKey>#<platform id>` in place of the key
 * (`archiveKey`); the live row goes on counting at `k`. The listing finds archived rows in the same query; no document of
 * theirs can be addressed, as of any deleted template.
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
  /** Oldest first; never empty. */
  readonly documents: readonly TemplateDocument[];
  readonly nextSequence: number;
}

/** The client's own part of a new row: active, with the placeholder as its first document (D13). */
export const newRowAttributes = { a: true, d: encodeDocuments([{ sequence: 0 }]), k: 1 } as const;

const codes = {
  s: { APPROVED: 'A', PENDING: 'P', REJECTED: 'R', PAUSED: 'U', DISABLED: 'D', IN_APPEAL: 'I', ARCHIVED: 'V' },
  c: { MARKETING: 'M', UTILITY: 'U', AUTHENTICATION: 'A' },
  q: { GREEN: 'G', YELLOW: 'Y', RED: 'R', UNKNOWN: 'U' },
} as const satisfies Record<string, Readonly<Record<string, string>>>;

type Coded = keyof typeof codes;

/** A value without a code is kept as it is, marked by `=`: statuses that are unknown today must survive (D22). */
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

/** Ids are decimal digits: as a number they take half the bytes. Anything that would not come back as it was stays text. */
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

/** Which attributes a fact sets and which it removes on a client's row; never one of the client's own. */
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

/** Spells documents as the row keeps them. */
export function encodeDocuments(
  documents: readonly { readonly sequence: number; readonly pair?: TemplateDocument['pair'] }[],
): string {
  return documents
    .map(({ sequence, pair }) =>
      pair === undefined ? `${sequence}` : `${sequence}:${pair.channelId}:${pair.campaignId}`,
    )
    .join(' ');
}

/** A row's documents as it keeps them: the inverse of what `rowFromItem` reads. */
export function documentsText(row: Pick<TemplateRow, 'documents'>): string {
  return encodeDocuments(
    row.documents.map(({ id, pair }) => {
      const address = parseDocumentId(id);
      if (address === undefined) throw new Error(`template row: ${id} is no document id`);
      return { sequence: address.sequence, pair };
    }),
  );
}

/** A row's status as the row keeps it. */
export function statusText(row: Pick<TemplateRow, 'status'>): string {
  return encode('s', row.status);
}

/** Reads a stored row; throws when the item is not one. */
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
    ...present({ qualityScore: stored.q === undefined ? undefined : decode('q', stored.q) }),
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
