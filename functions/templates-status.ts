import * as v from 'valibot';
import { clientEndpoint } from '../lib/access/client-endpoint.ts';
import { directoryStore } from '../lib/access/directory-store.ts';
import { askedClientId, type Clients, operatingClient } from '../lib/access/operating-client.ts';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { answer } from '../lib/http/answer.ts';
import { bodyMaxBytes } from '../lib/http/body.ts';
import { boundedList, closedObject, nothingBut } from '../lib/http/closed-object.ts';
import type { Endpoint } from '../lib/http/endpoint.ts';
import { jsonBody } from '../lib/http/json-body.ts';
import { parse } from '../lib/http/parse.ts';
import { rowStore } from '../lib/templates/model/row-store.ts';
import { statusItems, summaryOf } from '../lib/templates/status/bulk-status.ts';
import { type StatusPorts, setStatus } from '../lib/templates/status/set-status.ts';
import { statusStore } from '../lib/templates/status/status-store.ts';

const maxItems = 1_000;
const Action = v.picklist(['enable', 'disable'], 'action must be enable or disable');
const itemEntries = { id: v.string(), action: v.optional(Action) };
const Item = v.pipe(
  v.unknown(),
  nothingBut(itemEntries),
  v.union(
    [v.string(), v.object(itemEntries)],
    'a template must be an id, or an object with an id and an action that is enable or disable',
  ),
);

export const TemplatesStatusBody = closedObject({
  action: v.optional(Action),
  templates: v.pipe(boundedList(Item, maxItems), v.minLength(1, 'templates must not be empty')),
  client_id: v.optional(v.unknown()),
});
export const TemplatesStatusQuery = v.object({ client_id: v.optional(v.string()) });

/** PATCH /v1/templates/status: enables and disables up to 1,000 templates, each item answered by itself (D17). */
export function templatesStatus(
  deps: StatusPorts & { readonly directory: Clients; readonly nowMs: () => number },
): Endpoint {
  return clientEndpoint(deps, jsonBody({ maxBytes: bodyMaxBytes.bulk }), async (event) => {
    const { caller } = event;

    const body = parse(TemplatesStatusBody, event.body);
    const query = parse(TemplatesStatusQuery, event.queryStringParameters ?? {});
    const items = statusItems(body.templates, body.action);

    const askedId = askedClientId({ query: query.client_id, body: body.client_id });
    await operatingClient(deps.directory, caller, askedId); // refuses a foreign client; each item finds its own

    const results = await setStatus(deps, { caller, askedId }, items);

    return answer(200, { results, summary: summaryOf(results) });
  });
}

const store = documentClient();
export const handler = templatesStatus({
  directory: directoryStore(store, environmentVariable('DIRECTORY_TABLE')),
  rows: rowStore(store, environmentVariable('TEMPLATES_TABLE')),
  status: statusStore(store, environmentVariable('TEMPLATES_TABLE')),
  nowMs: Date.now,
});
