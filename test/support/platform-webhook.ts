import { createHmac } from 'node:crypto';

/** The demo has this app, its secret and its WABAs (infra/local/demo/provisioning.json). */
export const demoApp = {
  appId: '500000000000001',
  secret: 'demo-app-secret',
  verifyToken: 'demo-verify-token',
  wabas: ['200000000000001', '200000000000002'],
} as const;

/** Writes JSON as the platform does, with escapes for characters outside ASCII (platform reference, 10.1). */
export function platformJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Returns the `X-Hub-Signature-256` over the bytes of a body. */
export function signatureOf(body: string | Buffer, secret: string = demoApp.secret): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

export interface SignedWebhook {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the body and headers of a webhook as the platform posts it. */
export function signedWebhook(value: unknown, secret: string = demoApp.secret): SignedWebhook {
  const body = platformJson(value);
  return { body, headers: { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf(body, secret) } };
}

/** Makes the envelope with changes of one WABA (platform reference, 10.2). */
export function webhookOf(wabaId: string, ...changes: readonly { readonly field: string; readonly value: unknown }[]) {
  return { object: 'whatsapp_business_account', entry: [{ id: wabaId, time: 1_750_030_073, changes }] };
}

/** Makes the change with statuses of one number (platform reference, 10.2). */
export function statusChange(phoneNumberId: string, ...statuses: readonly unknown[]) {
  const metadata = { display_phone_number: '15550783881', phone_number_id: phoneNumberId };
  return { field: 'messages', value: { messaging_product: 'whatsapp', metadata, statuses } };
}

/** Makes one status of one message in the platform's form. */
export function statusOf(messageId: string | undefined, more: Readonly<Record<string, unknown>> = {}) {
  return {
    id: `wamid.${messageId ?? 'other'}`,
    status: 'delivered',
    timestamp: '1750030073',
    recipient_id: '16505551234',
    biz_opaque_callback_data: messageId,
    ...more,
  };
}
