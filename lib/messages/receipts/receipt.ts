import * as v from 'valibot';
import { PricingSchema } from '../../webhooks/event.ts';

/** The platform's word on one of our messages after it took it: one status of its webhook (D38, D39). */
export const ReceiptSchema = v.object({
  jobId: v.string(),
  index: v.number(),
  /** `sent`, `delivered`, `read`, `failed`, `played`, or a word that nobody knows yet: kept as told. */
  status: v.string(),
  /** When it happened, by the platform's clock; when the receipt arrived, where the platform's time cannot be read. */
  atMs: v.number(),
  /** Absent where the person was erased (D60): the platform spells numbers in its ids. */
  platformMessageId: v.exactOptional(v.string()),
  /** Of a failure: the platform's error code as text, and its text for people. */
  code: v.exactOptional(v.string()),
  reason: v.exactOptional(v.string()),
  pricing: v.exactOptional(PricingSchema),
  /** The person as the platform names them: business-scoped user id, and the digits of the number where it may be shown. */
  userId: v.exactOptional(v.string()),
  waId: v.exactOptional(v.string()),
});
export type Pricing = NonNullable<Receipt['pricing']>;
export type Receipt = v.InferOutput<typeof ReceiptSchema>;

/** The receipts of one number. */
const NumberReceiptsSchema = v.object({
  wabaId: v.string(),
  phoneNumberId: v.string(),
  receipts: v.array(ReceiptSchema),
});
export type NumberReceipts = v.InferOutput<typeof NumberReceiptsSchema>;

/** The format in which receipts are queued now. */
export const receiptMessageVersion = 1;

/**
 * A message of the receipt queue (D47: it carries a version). The number of the receipts is the platform's word and proven
 * by its signature; whether it is the number that sent the message, whoever reads the queue compares with the job.
 */
export const ReceiptMessageSchema = v.object({
  version: v.literal(receiptMessageVersion),
  numbers: v.array(NumberReceiptsSchema),
});
export type ReceiptMessage = v.InferOutput<typeof ReceiptMessageSchema>;
