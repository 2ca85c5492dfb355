import type { SQSClient } from '@aws-sdk/client-sqs';
import { hintQueue } from '../../lib/hints/hint-queue.ts';
import { inboundQueue } from '../../lib/messages/inbound/inbound-queue.ts';
import { receiptQueue } from '../../lib/messages/receipts/receipt-queue.ts';
import { receiveWebhook } from '../../lib/messages/receipts/receive-webhook.ts';
import { platformApps } from '../../lib/platform/webhook/apps.ts';
import { demoApp, signedWebhook, statusChange, statusOf, webhookOf } from '../support/platform-webhook.ts';
import { report } from './figure.ts';

const rounds = 40;
const updates = 1_000;
/** So much text fills 1,000 updates to the platform's limit of 3 MB, with the platform's escapes. */
const detailsLength = 430;

/** Measures what 1,000 updates of 3 MB cost: processor time compared with parsing them, and requests to queues. */
export async function benchPlatformWebhook(): Promise<void> {
  const { body, headers } = thousandUpdates();
  const { appId, secret, verifyToken, wabas } = demoApp;
  const apps = platformApps(JSON.stringify({ [appId]: { appSecret: secret, verifyToken, wabas } }));
  const queues = countedQueues();
  const ports = {
    apps: async () => apps,
    receipts: receiptQueue(queues.client, 'receipts'),
    hints: hintQueue(queues.client, 'hints'),
    inbound: inboundQueue(queues.client, 'inbound'),
    nowMs: Date.now,
  };
  const take = () => receiveWebhook({ body, signature: headers['x-hub-signature-256'] }, ports);
  await take();
  const { messages, roundTrips } = queues.taken();
  const mb = Buffer.byteLength(body) / 1_000_000;
  const ratio = await processorRatio(take, async () => JSON.parse(body));
  report({ figure: 'platform_webhook.1000_updates', value: mb, unit: 'MB' });
  report({ figure: 'platform_webhook.processor_to_parsing', value: ratio, limit: 3, unit: 'ratio' });
  report({ figure: 'platform_webhook.round_trips', value: roundTrips, limit: 1, unit: 'round trips' });
  report({ figure: 'platform_webhook.queue_messages', value: messages, limit: 3, unit: 'messages' });
}

function thousandUpdates() {
  const errors = [{ code: 131_026, title: 'Undeliverable', error_data: { details: 'é'.repeat(detailsLength) } }];
  const changes = Array.from({ length: updates }, (_, index) =>
    statusChange('300000000000001', statusOf(`01JD0000000000000000000000-${index}`, { status: 'failed', errors })),
  );
  return signedWebhook(webhookOf(demoApp.wabas[0], ...changes));
}

/**
 * Returns the ratio of the processor times, in turns. The quickest of each counts, because other processes only add
 * time.
 */
async function processorRatio(one: () => Promise<unknown>, other: () => Promise<unknown>): Promise<number> {
  let [least, leastOfOther] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < rounds; round += 1) {
    least = Math.min(least, await processorMs(one));
    leastOfOther = Math.min(leastOfOther, await processorMs(other));
  }
  return least / leastOfOther;
}

async function processorMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The queues take everything with a delay, and count messages and the waits of their callers. */
function countedQueues() {
  let [messages, roundTrips, underWay] = [0, 0, 0];
  const send = async ({ input }: { readonly input: { readonly Entries?: readonly unknown[] } }) => {
    messages += input.Entries?.length ?? 1;
    if (underWay === 0) roundTrips += 1;
    underWay += 1;
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
    return {};
  };
  return { client: { send } as unknown as SQSClient, taken: () => ({ messages, roundTrips }) };
}
