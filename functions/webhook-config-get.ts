import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { askedClientId, ClientIdText, type Clients, clientEndpoint, operatingClient } from '../lib/access/page.ts';
import { answer, type Endpoint, noBody, parse, Refusal, shaped } from '../lib/http/page.ts';
import type { WebhookConfigs } from '../lib/webhooks/config/config-store.ts';
import { configView, WebhookConfigSchema } from '../lib/webhooks/config/config-view.ts';
import { troubleOf } from '../lib/webhooks/config/trouble.ts';
import { deployedConfigs } from '../lib/webhooks/deployed.ts';

export const WebhookConfigGetQuery = v.object({ client_id: ClientIdText });

/**
 * GET /v1/webhook/config: shows where the operating client's events go, and its trouble, or answers 404 (D33). The
 * secret never appears.
 */
export function webhookConfigGet(ports: {
  readonly directory: Clients;
  readonly configs: Pick<WebhookConfigs, 'findConfig' | 'findFailures'>;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(ports, noBody, async (event) => {
    const { caller } = event;

    const query = parse(WebhookConfigGetQuery, event.queryStringParameters ?? {});
    const clientId = await operatingClient(ports.directory, caller, askedClientId({ query: query.client_id }));

    const [config, failures] = await Promise.all([
      ports.configs.findConfig(clientId),
      ports.configs.findFailures(clientId),
    ]);
    if (config === undefined) {
      throw new Refusal('webhook_config_not_found', `no webhook configuration exists for client ${clientId}`);
    }

    return answer(200, shaped(WebhookConfigSchema, configView(config, troubleOf(config, failures))));
  });
}

export const handler = deployed(() => webhookConfigGet({ ...deployedAccess(), configs: deployedConfigs() }));
