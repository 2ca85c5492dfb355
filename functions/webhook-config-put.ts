import { randomBytes } from 'node:crypto';
import { clientEndpoint } from '../lib/access/client-endpoint.ts';
import { directoryStore } from '../lib/access/directory-store.ts';
import { askedClientId, type Clients, operatingClient } from '../lib/access/operating-client.ts';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { keptFor, secretReader } from '../lib/aws/secrets.ts';
import { answer } from '../lib/http/answer.ts';
import { bodyMaxBytes } from '../lib/http/body.ts';
import type { Endpoint } from '../lib/http/endpoint.ts';
import { jsonBody } from '../lib/http/json-body.ts';
import { parse } from '../lib/http/parse.ts';
import { asksRotation, WebhookConfigPutBody, WebhookConfigPutQuery } from '../lib/webhooks/config/config-request.ts';
import { webhookConfigStore } from '../lib/webhooks/config/config-store.ts';
import { configView } from '../lib/webhooks/config/config-view.ts';
import { type ConfigurePorts, configure } from '../lib/webhooks/config/configure.ts';
import { sealingKeySet } from '../lib/webhooks/config/sealing.ts';
import { sealingKeysKeptSeconds } from '../lib/webhooks/config/sealing-rotation.ts';

/**
 * PUT /v1/webhook/config: creates or changes where the operating client's events go. A signing secret that this request
 * made is answered in the header `Webhook-Secret`, and shown nowhere again (D33).
 */
export function webhookConfigPut(
  deps: ConfigurePorts & { readonly directory: Clients; readonly nowMs: () => number },
): Endpoint {
  return clientEndpoint(deps, jsonBody({ maxBytes: bodyMaxBytes.plain }), async (event) => {
    const nowMs = deps.nowMs();
    const { caller } = event;

    const body = parse(WebhookConfigPutBody, event.body);
    const query = parse(WebhookConfigPutQuery, event.queryStringParameters ?? {});
    const rotate = asksRotation(event);
    const askedId = askedClientId({ query: query.client_id, body: body.client_id });
    const clientId = await operatingClient(deps.directory, caller, askedId);

    const { url, active } = body;
    const { config, secret } = await configure(deps, { clientId, url, active, nowMs }, rotate);

    return answer(200, configView(config), secret === undefined ? {} : { 'webhook-secret': secret });
  });
}

const readSecret = secretReader();
const sealingKeysSecret = environmentVariable('WEBHOOK_SEALING_KEYS_SECRET');

const store = documentClient();
export const handler = webhookConfigPut({
  directory: directoryStore(store, environmentVariable('DIRECTORY_TABLE')),
  configs: webhookConfigStore(store, environmentVariable('WEBHOOKS_TABLE')),
  sealingKeys: keptFor(sealingKeysKeptSeconds * 1000, Date.now, async () =>
    sealingKeySet(await readSecret(sealingKeysSecret)),
  ),
  randomBytes,
  nowMs: Date.now,
});
