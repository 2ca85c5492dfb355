import * as v from 'valibot';
import { clientEndpoint } from '../lib/access/client-endpoint.ts';
import { directoryStore } from '../lib/access/directory-store.ts';
import { askedClientId, type Clients, operatingClient } from '../lib/access/operating-client.ts';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { answer } from '../lib/http/answer.ts';
import { noBody } from '../lib/http/body.ts';
import type { Endpoint } from '../lib/http/endpoint.ts';
import { parse } from '../lib/http/parse.ts';
import { Refusal } from '../lib/http/refusal.ts';
import { type WebhookConfigs, webhookConfigStore } from '../lib/webhooks/config/config-store.ts';
import { configView } from '../lib/webhooks/config/config-view.ts';

export const WebhookConfigGetQuery = v.object({ client_id: v.optional(v.string()) });

/** GET /v1/webhook/config: where the operating client's events go, or 404 (D33). Never the secret. */
export function webhookConfigGet(deps: {
  readonly directory: Clients;
  readonly configs: Pick<WebhookConfigs, 'findConfig'>;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(deps, noBody, async (event) => {
    const { caller } = event;

    const query = parse(WebhookConfigGetQuery, event.queryStringParameters ?? {});
    const clientId = await operatingClient(deps.directory, caller, askedClientId({ query: query.client_id }));

    const config = await deps.configs.findConfig(clientId);
    if (config === undefined) {
      throw new Refusal('webhook_config_not_found', `no webhook configuration exists for client ${clientId}`);
    }

    return answer(200, configView(config));
  });
}

const store = documentClient();
export const handler = webhookConfigGet({
  directory: directoryStore(store, environmentVariable('DIRECTORY_TABLE')),
  configs: webhookConfigStore(store, environmentVariable('WEBHOOKS_TABLE')),
  nowMs: Date.now,
});
