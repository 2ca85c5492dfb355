import { createHmac } from 'node:crypto';

export interface Signed {
  /** A secret is `whsec_` and the base64 of the key. Each gives one signature, in this order. */
  readonly secrets: readonly string[];
  readonly webhookId: string;
  readonly timestampSeconds: number;
  readonly body: string;
}

/**
 * Returns the header `webhook-signature` of Standard Webhooks 1.0: `v1,<base64>` for each secret, separated by spaces
 * (D34, R41).
 */
export function sign({ secrets, webhookId, timestampSeconds, body }: Signed): string {
  const content = `${webhookId}.${timestampSeconds}.${body}`;
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
      return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
    })
    .join(' ');
}
