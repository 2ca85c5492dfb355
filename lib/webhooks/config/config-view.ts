import type { WebhookConfig } from './config.ts';

/** A configuration as it is answered (contract, PUT and GET /v1/webhook/config). The secret is no part of it. */
export function configView({ clientId, url, active }: WebhookConfig) {
  return { client_id: clientId, url, active };
}
