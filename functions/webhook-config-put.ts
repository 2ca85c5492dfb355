import { randomBytes } from 'node:crypto';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { askedClientId, type Clients, clientEndpoint, operatingClient } from '../lib/access/page.ts';
import type { Audit } from '../lib/audit/audit.ts';
import { deployedAudit } from '../lib/audit/deployed.ts';
import { answer, bodyMaxBytes, type Endpoint, jsonBody, parse, parseHeaders, shaped } from '../lib/http/page.ts';
import { omitUndefined } from '../lib/keys/omit-undefined.ts';
import {
  WebhookConfigPutBody,
  WebhookConfigPutHeaders,
  WebhookConfigPutQuery,
} from '../lib/webhooks/config/config-request.ts';
import { configView, WebhookConfigSchema } from '../lib/webhooks/config/config-view.ts';
import { type ConfigurePorts, configure } from '../lib/webhooks/config/configure.ts';
import { deployedConfigs, deployedSealingKeys, deployedWake } from '../lib/webhooks/deployed.ts';

/**
 * PUT /v1/webhook/config: creates or changes the operating client's receiver. A new signing secret appears only in this
 * answer's header `Webhook-Secret` (D33).
 */
export function webhookConfigPut(
  ports: ConfigurePorts & { readonly directory: Clients; readonly nowMs: () => number; readonly audit: Audit },
): Endpoint {
  const reads = { body: jsonBody({ maxBytes: bodyMaxBytes.plain }), headers: WebhookConfigPutHeaders };
  return clientEndpoint(ports, reads, async (event) => {
    const nowMs = ports.nowMs();
    const { caller } = event;

    const body = parse(WebhookConfigPutBody, event.body);
    const query = parse(WebhookConfigPutQuery, event.queryStringParameters ?? {});
    const rotate = parseHeaders(WebhookConfigPutHeaders, event)['Webhook-Secret-Rotate'] === 'true';
    const askedId = askedClientId({ query: query.client_id, body: body.client_id });
    const clientId = await operatingClient(ports.directory, caller, askedId);

    const { url, active, events } = body;
    const { config, secret } = await configure(ports, { clientId, url, active, events, nowMs }, rotate);
    const act = secret === undefined ? 'webhook.changed' : 'webhook.secret_changed';
    await ports.audit.note({ caller, clientId, act, on: {} }, 'done');

    return answer(200, shaped(WebhookConfigSchema, configView(config)), omitUndefined({ 'webhook-secret': secret }));
  });
}

export const handler = deployed(() => {
  const configs = deployedConfigs();
  return webhookConfigPut({
    ...deployedAccess(),
    ...deployedAudit(),
    configs,
    sealingKeys: deployedSealingKeys(),
    randomBytes,
    wake: deployedWake(),
  });
});
