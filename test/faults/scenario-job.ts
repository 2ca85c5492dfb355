import type { DispatchMessage } from '../../lib/messages/job.ts';
import type { ReceiptMessage } from '../../lib/messages/receipts/receipt.ts';
import { makeJobHead } from '../support/send-jobs.ts';

export const startMs = 1_800_000_000_000;
export const scenarioJobId = 'J';

export function dispatchMessage(index: number, changes: Partial<DispatchMessage> = {}): DispatchMessage {
  return {
    version: 1,
    jobId: scenarioJobId,
    index,
    clientId: 1001,
    wabaId: '200000000000001',
    phoneNumberId: '300000000000001',
    credential: 'main',
    path: 'messages',
    acceptedAtMs: startMs,
    attempt: 0,
    attempts: {},
    limitPerSecond: 80,
    about: { did: '5491100000001', template: { name: 'order_update', language: 'en_US' } },
    request: { to: '5491100000000' },
    ...changes,
  };
}

/** The job of the scenarios' messages, as the fan-out records it. */
export const scenarioHead = makeJobHead({
  jobId: scenarioJobId,
  throughputPerSecond: 80,
  acceptedAtMs: startMs,
  total: 1_000,
});

/** One receipt, as it waits in the queue. */
export function receiptBody(index: number, status: string): string {
  const { wabaId, phoneNumberId, jobId } = scenarioHead;
  const receipt = { jobId, index, status, atMs: startMs, platformMessageId: 'platform-1' };
  const message: ReceiptMessage = { version: 1, numbers: [{ wabaId, phoneNumberId, receipts: [receipt] }] };
  return JSON.stringify(message);
}
