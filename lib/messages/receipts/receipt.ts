import * as v from 'valibot';
import { PricingSchema } from '../../webhooks/event.ts';

/** A status of the platform's webhook about one of our messages, after it took the message (D38, D39). */
export const ReceiptSchema = v.object({
  jobId: v.string(),
  index: v.number(),
  /** `sent`, `delivered`, `read`, `failed`, `played`, or an unknown word, as received. */
  status: v.string(),
  /** Time of the event by the platform's clock; arrival if that is unreadable. */
  atMs: v.number(),
  /** Absent for an erased person (D60): the platform's ids contain phone numbers. */
  platformMessageId: v.exactOptional(v.string()),
  /** For a failure: the platform's error code and its text for people. */
  code: v.exactOptional(v.string()),
  reason: v.exactOptional(v.string()),
  pricing: v.exactOptional(PricingSchema),
  /** The person's business-scoped user id, and the digits of the number if the platform shows it. */
  userId: v.exactOptional(v.string()),
  waId: v.exactOptional(v.string()),
});
export type Pricing = NonNullable<Receipt['pricing']>;
export type Receipt = v.InferOutput<typeof ReceiptSchema>;

const NumberReceiptsSchema = v.object({
  wabaId: v.string(),
  phoneNumberId: v.string(),
  receipts: v.array(ReceiptSchema),
});
export type NumberReceipts = v.InferOutput<typeof NumberReceiptsSchema>;

/** The format of queued receipts. */
export const receiptMessageVersion = 1;

/**
 * A versioned message of the receipt queue (D47). The platform's signature proves the receipts' number; the consumer
 * compares it with the job's.
 */
export const ReceiptMessageSchema = v.object({
  version: v.literal(receiptMessageVersion),
  numbers: v.array(NumberReceiptsSchema),
});
export type ReceiptMessage = v.InferOutput<typeof ReceiptMessageSchema>;
