import { deployed, environmentVariable, queues } from '../lib/aws/deployed.ts';
import { hintsOf } from '../lib/hints/hint.ts';
import { type HintSink, hintQueue } from '../lib/hints/hint-queue.ts';
import { answer, bodyMaxBytes, type Endpoint, Refusal, rawBody } from '../lib/http/page.ts';
import { publicEndpoint } from '../lib/http/public-endpoint.ts';
import { type ReceiptSink, receiptQueue } from '../lib/messages/receipts/receipt-queue.ts';
import { receiptsOf } from '../lib/messages/receipts/receipts-of.ts';
import { log } from '../lib/observe/log.ts';
import { count } from '../lib/observe/metrics.ts';
import { deployedPlatformApps, type ReadPlatformApps } from '../lib/platform/webhook/deployed.ts';
import { updatesIn } from '../lib/platform/webhook/envelope.ts';
import { type RawBody, signingApp } from '../lib/platform/webhook/signature.ts';

export interface PlatformWebhookPorts {
  readonly apps: ReadPlatformApps;
  readonly receipts: ReceiptSink;
  readonly hints: HintSink;
  readonly nowMs: () => number;
}

/**
 * POST /platform/webhook: what the platform says became of messages, templates and numbers (D38). Public; nothing is parsed
 * before the signature of an app holds. 200 once everything that concerns us is queued, whatever else the body holds.
 */
export function platformWebhookReceive({ apps, receipts, hints, nowMs }: PlatformWebhookPorts): Endpoint {
  return publicEndpoint(rawBody({ maxBytes: bodyMaxBytes.platform }), async (event) => {
    const body = event.body as RawBody;
    const app = signingApp(await orRepeat(apps()), body, event.headers['x-hub-signature-256']);
    if (app === undefined) {
      count('PlatformSignaturesRefused');
      log('platform.signature_refused');
      throw new Refusal('unauthorized', 'not signed by an app of the platform that is known here');
    }

    const told = updatesIn(body, app.wabas);
    const statuses = receiptsOf(told.updates, nowMs());
    count('PlatformWebhooksReceived');
    count('PlatformStatusesForeign', statuses.foreign);
    const dropped = told.foreign + told.unreadable + statuses.unreadable;
    if (dropped > 0) {
      count('PlatformUpdatesDropped', dropped);
      log('platform.updates_dropped', { count: dropped, code: told.foreign > 0 ? 'foreign_waba' : 'unreadable' });
    }

    await orRepeat(Promise.all([receipts.send(statuses.numbers), hints.send(hintsOf(told.updates))]));
    count('ReceiptsQueued', statuses.total);
    return answer(200, { received: true });
  });
}

/** What fails on our side is no fault of what was told: the platform repeats a 503, for days. */
async function orRepeat<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new Refusal('webhook_not_taken', 'not taken, repeat it later', { cause });
  }
}

export const handler = deployed(() =>
  platformWebhookReceive({
    apps: deployedPlatformApps(),
    receipts: receiptQueue(queues(), environmentVariable('RECEIPT_QUEUE_URL')),
    hints: hintQueue(queues(), environmentVariable('HINT_QUEUE_URL')),
    nowMs: Date.now,
  }),
);
