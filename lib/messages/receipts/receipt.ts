import * as v from 'valibot';
import { PricingSchema } from '../../webhooks/event.ts';

/** The platform's webhook tells this status of one of our messages, after it took the message (D38, D39). */
export const ReceiptSchema = v.object({
  dispatchId: v.string(),
  index: v.number(),
  /** The status is `sent`, `delivered`, `read`, `failed`, `played`, or an unknown word, as received. */
  status: v.string(),
  /** The time is the event's by the platform's clock, or the arrival if that is unreadable. */
  atMs: v.number(),
  /** An erased person has none (D60): the platform's ids contain phone numbers. */
  platformMessageId: v.optional(v.string()),
  /** A failure has the platform's error code and its text for people. */
  code: v.optional(v.string()),
  reason: v.optional(v.string()),
  pricing: v.optional(PricingSchema),
  /** `waId` is there if the platform shows the number. */
  userId: v.optional(v.string()),
  waId: v.optional(v.string()),
});
export type Pricing = NonNullable<Receipt['pricing']>;
export type Receipt = v.InferOutput<typeof ReceiptSchema>;

const NumberReceiptsSchema = v.object({
  wabaId: v.string(),
  phoneNumberId: v.string(),
  receipts: v.array(ReceiptSchema),
});
export type NumberReceipts = v.InferOutput<typeof NumberReceiptsSchema>;

/** Queued receipts carry this version (D47). */
export const receiptMessageVersion = 1;

/**
 * The message of the receipt queue has a version (D47). The platform's signature proves the receipts' number; the
 * consumer compares it with the dispatch's.
 */
export const ReceiptMessageSchema = v.object({
  version: v.literal(receiptMessageVersion),
  numbers: v.array(NumberReceiptsSchema),
});
export type ReceiptMessage = v.InferOutput<typeof ReceiptMessageSchema>;
