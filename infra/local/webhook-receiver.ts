import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { omitUndefined } from '../../lib/keys/omit-undefined.ts';
import { closeAtOnce, openOnLoopback } from '../loopback.ts';
import type { TrustedReceiver } from './trusted-receiver.ts';

/** The name is reserved: deliveries to it stay on this machine (trusted-receiver.ts). */
const host = 'webhooks.example.com';
export const receiverUrl = `https://${host}/events`;

const file = (name: string) => readFileSync(join(import.meta.dirname, 'tls', name), 'utf8');

/** Returns the entry of `TRUSTED_RECEIVERS` for a receiver on this port. Its certificate is trusted only here. */
export function trustedReceiver(port: number): TrustedReceiver & { readonly ca: string } {
  return { host, port, ca: file('certificate.pem') };
}

/** The package `standardwebhooks` verifies the post, independently of our own signing. */
export interface Delivery {
  readonly webhookId: string;
  readonly verified: boolean;
  readonly body: string;
  /** A further program needs these headers to verify the signature too. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface DeliveryAnswer {
  readonly status: number;
  readonly retryAfter?: string;
}

/** The result is the answer to the service, unless the signature was wrong. */
export type OnDelivery = (delivery: Delivery) => Promise<DeliveryAnswer> | undefined;

export interface WebhookReceiver {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Passes each delivery to `onDelivery`, whose result, or 204, answers a verified one; others get 400. Deliveries wait
 * until the secret is known; several clients have several secrets.
 */
export async function startWebhookReceiver(
  port: number,
  secret: Promise<string | readonly string[]>,
  onDelivery: OnDelivery,
): Promise<WebhookReceiver> {
  const server = createServer({ key: file('key.pem'), cert: file('certificate.pem') }, async (request, response) => {
    try {
      const delivery = await read(request, [await secret].flat());
      const { status, retryAfter } = (await onDelivery(delivery)) ?? { status: 204 };
      const headers = omitUndefined({ 'retry-after': retryAfter });
      response.writeHead(delivery.verified ? status : 400, headers).end();
    } catch {
      response.destroy();
    }
  });
  return { port: await openOnLoopback(server, port), close: () => closeAtOnce(server) };
}

async function read(request: IncomingMessage, secrets: readonly string[]): Promise<Delivery> {
  const header = (name: string) => String(request.headers[name] ?? '');
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const body = await text(request);
  const headers = Object.fromEntries(names.map((name) => [name, header(name)]));
  return {
    webhookId: header('webhook-id'),
    verified: secrets.some((secret) => isVerified(secret, body, headers)),
    body,
    headers,
  };
}

function isVerified(secret: string, body: string, headers: Record<string, string>): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}
