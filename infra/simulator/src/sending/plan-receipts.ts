import type { MessagingLimits } from '../portfolios/messaging-limits.ts';
import type { Outbox } from '../webhooks/outbox.ts';
import { type AcceptedMessage, type Course, deliveryOf, receiptsOf, type StatusView } from '../webhooks/receipts.ts';
import type { Bill } from './bill.ts';

/** Plans the webhooks and returns the statuses. The delivery is billed and counts against the portfolio's limit. */
export function planReceipts(
  { outbox, limits, bill }: { readonly outbox: Outbox; readonly limits: MessagingLimits; readonly bill: Bill },
  message: AcceptedMessage,
  course: Course,
): readonly StatusView[] {
  const deliveredMs = deliveryOf(message, course);
  if (deliveredMs !== undefined) bill.delivers(message, deliveredMs);
  if (deliveredMs !== undefined && message.countedFor !== undefined) {
    limits.delivers(message.countedFor, message.recipient.key, deliveredMs);
  }
  const receipts = receiptsOf(message, course);
  for (const { update, atMs } of receipts) outbox.add(update, atMs);
  return receipts.map((receipt) => receipt.told);
}
