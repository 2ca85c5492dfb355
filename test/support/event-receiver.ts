import { afterAll, beforeAll, onTestFinished } from 'vitest';
import {
  type Delivery,
  type DeliveryAnswer,
  receiverUrl,
  startWebhookReceiver,
} from '../../infra/local/webhook-receiver.ts';
import { addressOf } from './addresses.ts';
import { api, tokenOf } from './api.ts';
import { forgetWebhook } from './forget-webhook.ts';

interface Receiving {
  readonly clientId: number;
  readonly token: string;
  /** The kinds of event; by default those of the service. */
  readonly events: readonly string[] | undefined;
  readonly take: (delivery: Delivery) => Promise<DeliveryAnswer> | undefined;
}

async function startReceiving({ clientId, token, events, take }: Receiving) {
  const known = Promise.withResolvers<string>();
  const receiver = await startWebhookReceiver(addressOf('webhookReceiverPort'), known.promise, take);
  const { headers } = await api('PUT /v1/webhook/config', {
    ...{ token, headers: { 'webhook-secret-rotate': 'true' } },
    body: { url: receiverUrl, active: true, events },
  });
  const secret = headers.get('webhook-secret') ?? '';
  known.resolve(secret);
  const close = async () => {
    await receiver.close();
    await forgetWebhook(clientId);
  };
  return { secret, close };
}

/**
 * Receives the events of a client until the end of the test, which then forgets the client's configuration. `events`
 * are the kinds of event, by default those of the service.
 */
export async function receiveEvents(
  client: Pick<Receiving, 'clientId' | 'token'>,
  events?: readonly string[],
): Promise<{ readonly deliveries: readonly Delivery[]; readonly secret: string }> {
  const deliveries: Delivery[] = [];
  const take = (delivery: Delivery) => void deliveries.push(delivery);
  const { secret, close } = await startReceiving({ ...client, events, take });
  onTestFinished(close);
  return { deliveries, secret };
}

/** Receives the events of client 1001 in all tests of the file, as `receiveEvents`; `answer` is 204 by default. */
export function eventsOfFile(
  events?: readonly string[],
  answer: () => Promise<DeliveryAnswer> | undefined = () => undefined,
): readonly Delivery[] {
  const deliveries: Delivery[] = [];
  let close: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    await forgetWebhook(1001);
    const take = (delivery: Delivery) => {
      deliveries.push(delivery);
      return answer();
    };
    const receiving = { clientId: 1001, token: await tokenOf('supervisor1001'), events, take };
    ({ close } = await startReceiving(receiving));
  });
  afterAll(async () => await close?.());
  return deliveries;
}
