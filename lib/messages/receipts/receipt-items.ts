import { createHash } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import * as v from 'valibot';
import { present } from '../../keys/present.ts';
import { PricingSchema } from '../../webhooks/event.ts';
import { jobOfReceipts, receiptGroupOf, receiptPartition } from '../items.ts';
import type { JobHead } from '../job.ts';
import type { Receipt } from './receipt.ts';

/** Most bytes of text of receipts in one item, before it is packed: far from what an item may hold, and a run has little more. */
const maxItemText = 200_000;

/** Text that unpacks to more than this is none of ours. */
const maxUnpackedBytes = 4 * maxItemText;

const compression = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** One receipt as it is stored: by place, because ten thousand messages have thirty thousand of them. */
const RowSchema = v.tuple([
  v.number(),
  v.string(),
  v.number(),
  v.nullable(v.string()),
  v.nullable(v.string()),
  v.nullable(v.string()),
  v.nullable(PricingSchema),
  v.nullable(v.string()),
  v.nullable(v.string()),
]);
type Row = v.InferOutput<typeof RowSchema>;

const ItemSchema = v.object({ pk: v.string(), receipts: v.instance(Uint8Array) });
const RowsSchema = v.pipe(v.string(), v.parseJson(), v.array(RowSchema));

export interface ReceiptItem {
  readonly pk: string;
  readonly sk: string;
  readonly receipts: Uint8Array;
  readonly expiresAtSeconds: number;
}

/**
 * A receipt as it is kept. A user id is as long as half of a packed receipt, and the statuses of a message repeat it: `sent` has
 * it, and what follows `sent` leaves it out. A number is kept where none may have been addressed.
 */
export function keptReceipt({ userId, waId, ...receipt }: Receipt, { byUserId }: Pick<JobHead, 'byUserId'>): Receipt {
  if (repeating.has(receipt.status)) return receipt;
  return { ...receipt, ...present({ userId, waId: byUserId ? waId : undefined }) };
}

/** A receipt as it is kept of a person whom the operator has erased: nothing in it names anybody (D60). */
export function namelessReceipt({ platformMessageId, reason, userId, waId, ...receipt }: Receipt): Receipt {
  return receipt;
}

const repeating: ReadonlySet<string> = new Set(['delivered', 'read', 'played']);

/**
 * The items that append these receipts of one job: some for each group of messages, named by their content, so that the
 * same receipts written again are the same items. They are packed: the platform's id of a message, the longest part of
 * a receipt, stands in each of its receipts.
 */
export function receiptItems(jobId: string, receipts: readonly Receipt[], expiresAtSeconds: number): ReceiptItem[] {
  const groups = Map.groupBy(receipts, ({ index }) => receiptGroupOf(index));
  return [...groups].flatMap(([group, ofGroup]) =>
    textsOf(ofGroup).map((text) => ({
      pk: receiptPartition(jobId, group),
      sk: createHash('sha256').update(text).digest('base64url').slice(0, 22),
      receipts: brotliCompressSync(text, compression),
      expiresAtSeconds,
    })),
  );
}

/** Receipts of one item as it holds them, where they take the place of others of theirs. */
export function packedReceipts(receipts: readonly Receipt[]): Uint8Array {
  return brotliCompressSync(JSON.stringify(receipts.map(rowOf)), compression);
}

/** The receipts of one item, of whichever job it is. */
export function receiptsOf(item: unknown): Receipt[] {
  const { pk, receipts } = v.parse(ItemSchema, item);
  const jobId = jobOfReceipts(pk);
  const text = brotliDecompressSync(receipts, { maxOutputLength: maxUnpackedBytes }).toString('utf8');
  return v
    .parse(RowsSchema, text)
    .map(([index, status, atMs, platformMessageId, code, reason, pricing, userId, waId]) => ({
      jobId,
      index,
      status,
      atMs,
      ...present({ platformMessageId: platformMessageId ?? undefined }),
      ...present({ code: code ?? undefined, reason: reason ?? undefined, pricing: pricing ?? undefined }),
      ...present({ userId: userId ?? undefined, waId: waId ?? undefined }),
    }));
}

/** JSON lists of the receipts, each once, in an order that does not depend on how they came. */
function textsOf(receipts: readonly Receipt[]): string[] {
  const rows = [...new Set(receipts.map((receipt) => JSON.stringify(rowOf(receipt))))].sort();
  const texts: string[] = [];
  let list: string[] = [];
  let length = 0;
  for (const row of rows) {
    const bytes = Buffer.byteLength(row) + 1;
    if (length > 0 && length + bytes > maxItemText) {
      texts.push(`[${list.join(',')}]`);
      [list, length] = [[], 0];
    }
    list.push(row);
    length += bytes;
  }
  return [...texts, `[${list.join(',')}]`];
}

function rowOf({ index, status, atMs, platformMessageId, code, reason, pricing, userId, waId }: Receipt): Row {
  const optional = [code ?? null, reason ?? null, pricing ?? null, userId ?? null, waId ?? null] as const;
  return [index, status, atMs, platformMessageId ?? null, ...optional];
}
