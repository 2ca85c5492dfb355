import { onTestFinished } from 'vitest';
import { type Delivery, receiverUrl, startWebhookReceiver } from '../../infra/local/webhook-receiver.ts';
import { addressOf } from './addresses.ts';
import { api } from './api.ts';
import { forgetWebhook } from './forget-webhook.ts';

/**
 * Receives the events of a client until the end of the test, which then forgets the client's configuration. `events`
 * are the kinds of event, by default those of the service.
 */
export async function receiveEvents(
  { clientId, token }: { readonly clientId: number; readonly token: string },
  events?: readonly string[],
): Promise<{ readonly deliveries: readonly Delivery[]; readonly secret: string }> {
  const deliveries: Delivery[] = [];
  const known = Promise.withResolvers<string>();
  const receiver = await startWebhookReceiver(addressOf('webhookReceiverPort'), known.promise, (delivery) => {
    deliveries.push(delivery);
    return undefined;
  });
  onTestFinished(async () => {
    await receiver.close();
    await forgetWebhook(clientId);
  });
  const { headers } = await api('PUT /v1/webhook/config', {
    ...{ token, headers: { 'webhook-secret-rotate': 'true' } },
    body: { url: receiverUrl, active: true, events },
  });
  const secret = headers.get('webhook-secret') ?? '';
  known.resolve(secret);
  return { deliveries, secret };
}
