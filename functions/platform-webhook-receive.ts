import * as v from 'valibot';
import { deployed, environmentVariable, queues } from '../lib/aws/deployed.ts';
import { hintQueue } from '../lib/hints/hint-queue.ts';
import { answer, bodyMaxBytes, type Endpoint, rawBody, shaped } from '../lib/http/page.ts';
import { publicEndpoint } from '../lib/http/public-endpoint.ts';
import { deployedInbound } from '../lib/messages/deployed/inbound.ts';
import { receiptQueue } from '../lib/messages/receipts/receipt-queue.ts';
import { receiveWebhook, type WebhookPorts } from '../lib/messages/receipts/receive-webhook.ts';
import { deployedPlatformApps } from '../lib/platform/webhook/deployed.ts';
import type { RawBody } from '../lib/platform/webhook/signature.ts';

export const PlatformWebhookAnswer = v.object({ received: v.literal(true) });

/**
 * POST /platform/webhook: takes the platform's receipts, its changes of templates and numbers, and people's messages
 * (D38, D55). The route is public, but signed.
 */
export function platformWebhookReceive(ports: WebhookPorts): Endpoint {
  return publicEndpoint(rawBody({ maxBytes: bodyMaxBytes.platform }), async (event) => {
    const signature = event.headers['x-hub-signature-256'];
    await receiveWebhook({ body: event.body as RawBody, signature }, ports);
    return answer(200, shaped(PlatformWebhookAnswer, { received: true }));
  });
}

export const handler = deployed(() =>
  platformWebhookReceive({
    apps: deployedPlatformApps(),
    receipts: receiptQueue(queues(), environmentVariable('RECEIPT_QUEUE_URL')),
    hints: hintQueue(queues(), environmentVariable('HINT_QUEUE_URL')),
    inbound: deployedInbound(),
    nowMs: Date.now,
  }),
);
