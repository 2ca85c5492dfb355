import { createHash } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import * as v from 'valibot';
import { PricingSchema } from '../../webhooks/event.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import { dispatchOfReceipts, receiptGroupOf, receiptPartition } from '../dispatch/items.ts';
import type { Receipt } from './receipt.ts';

/** Unpacked text of one item stays far below what an item holds, and a run has little more. */
const maxItemText = 200_000;

/** This service wrote no text that unpacks to more. */
const maxUnpackedBytes = 4 * maxItemText;

const compression = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** A stored receipt is a tuple: ten thousand messages have thirty thousand receipts. */
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
 * A user id is half of a packed receipt, so only `sent` keeps it and later statuses drop it. The number stays where the
 * dispatch may address user ids.
 */
export function keptReceipt(
  { userId, waId, ...receipt }: Receipt,
  { byUserId }: Pick<DispatchHead, 'byUserId'>,
): Receipt {
  if (repeating.has(receipt.status)) return receipt;
  return { ...receipt, userId, waId: byUserId ? waId : undefined };
}

/** Returns a receipt of an erased person, without anything that names the person (D60). */
export function anonymizedReceipt({ platformMessageId, reason, userId, waId, ...receipt }: Receipt): Receipt {
  return receipt;
}

const repeating: ReadonlySet<string> = new Set(['delivered', 'read', 'played']);

/**
 * Returns the items that append receipts of one dispatch, by group of messages. They are content-addressed, and so
 * idempotent. They are packed, because the platform's message id repeats.
 */
export function receiptItems(
  dispatchId: string,
  receipts: readonly Receipt[],
  expiresAtSeconds: number,
): ReceiptItem[] {
  const groups = Map.groupBy(receipts, ({ index }) => receiptGroupOf(index));
  return [...groups].flatMap(([group, ofGroup]) =>
    textsOf(ofGroup).map((text) => ({
      pk: receiptPartition(dispatchId, group),
      sk: createHash('sha256').update(text).digest('base64url').slice(0, 22),
      receipts: brotliCompressSync(text, compression),
      expiresAtSeconds,
    })),
  );
}

/** Returns the packed receipts that replace those of an existing item. */
export function packedReceipts(receipts: readonly Receipt[]): Uint8Array {
  return brotliCompressSync(JSON.stringify(receipts.map(rowOf)), compression);
}

export function receiptsOf(item: unknown): Receipt[] {
  const { pk, receipts } = v.parse(ItemSchema, item);
  const dispatchId = dispatchOfReceipts(pk);
  const text = brotliDecompressSync(receipts, { maxOutputLength: maxUnpackedBytes }).toString('utf8');
  return v
    .parse(RowsSchema, text)
    .map(([index, status, atMs, platformMessageId, code, reason, pricing, userId, waId]) => ({
      dispatchId,
      index,
      status,
      atMs,
      platformMessageId: platformMessageId ?? undefined,
      code: code ?? undefined,
      reason: reason ?? undefined,
      pricing: pricing ?? undefined,
      userId: userId ?? undefined,
      waId: waId ?? undefined,
    }));
}

/** Returns deduplicated receipts as JSON lists, in an order independent of arrival. */
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
