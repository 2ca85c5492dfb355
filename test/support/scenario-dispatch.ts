import type { ReceiptMessage } from '../../lib/messages/receipts/receipt.ts';
import { makeDispatchHead } from './made-dispatches.ts';

export const startMs = 1_800_000_000_000;
const scenarioDispatchId = 'J';

/** The dispatch's number has a limit of eighty messages a second. */
export const scenarioHead = makeDispatchHead({
  dispatchId: scenarioDispatchId,
  throughputPerSecond: 80,
  acceptedAtMs: startMs,
  total: 1_000,
});

/** Writes one receipt, as the queue holds it. */
export function receiptBody(index: number, status: string): string {
  const { wabaId, phoneNumberId, dispatchId } = scenarioHead;
  const receipt = { dispatchId, index, status, atMs: startMs, platformMessageId: 'platform-1' };
  const message: ReceiptMessage = { version: 1, numbers: [{ wabaId, phoneNumberId, receipts: [receipt] }] };
  return JSON.stringify(message);
}
