import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import {
  askedClientId,
  ClientIdJson,
  ClientIdText,
  type Clients,
  clientEndpoint,
  operatingClient,
} from '../lib/access/page.ts';
import type { Audit } from '../lib/audit/audit.ts';
import { deployedAudit } from '../lib/audit/deployed.ts';
import { boundedList, closedObject, nothingBut } from '../lib/http/closed-object.ts';
import { documentedAs } from '../lib/http/documented.ts';
import { butReceived } from '../lib/http/json-excerpt.ts';
import { answer, bodyMaxBytes, type Endpoint, jsonBody, parse, shaped } from '../lib/http/page.ts';
import { deployedStatus } from '../lib/templates/deployed/status.ts';
import {
  StatusResultSchema,
  StatusSummarySchema,
  statusItems,
  summaryOf,
  switchedTemplates,
} from '../lib/templates/status/bulk-status.ts';
import { type StatusPorts, setStatus } from '../lib/templates/status/set-status.ts';

const maxItems = 1_000;
const Action = v.picklist(['enable', 'disable'], butReceived('action must be enable or disable'));
const itemEntries = { id: v.string(), action: v.optional(Action) };
const Item = v.pipe(
  v.unknown(),
  nothingBut(itemEntries),
  v.union(
    [v.string(), v.object(itemEntries)],
    butReceived('a template must be an id, or an object with an id and an action that is enable or disable'),
  ),
  documentedAs(() => v.union([v.string(), v.strictObject(itemEntries)])),
);

export const TemplatesStatusBody = closedObject({
  action: v.optional(Action),
  templates: v.pipe(boundedList(Item, maxItems), v.minLength(1, 'templates must not be empty')),
  client_id: ClientIdJson,
});
export const TemplatesStatusQuery = v.object({ client_id: ClientIdText });

export const TemplatesStatusAnswer = v.object({ results: v.array(StatusResultSchema), summary: StatusSummarySchema });

/** PATCH /v1/templates/status: enables and disables up to 1,000 templates, with a result for each (D17). */
export function templatesStatus(
  ports: StatusPorts & { readonly directory: Clients; readonly nowMs: () => number; readonly audit: Audit },
): Endpoint {
  return clientEndpoint(ports, jsonBody({ maxBytes: bodyMaxBytes.bulk }), async (event) => {
    const { caller } = event;

    const body = parse(TemplatesStatusBody, event.body);
    const query = parse(TemplatesStatusQuery, event.queryStringParameters ?? {});
    const items = statusItems(body.templates, body.action);

    const askedId = askedClientId({ query: query.client_id, body: body.client_id });
    // A foreign client is refused here; each item finds its own.
    await operatingClient(ports.directory, caller, askedId);

    const results = await setStatus(ports, { caller, askedId }, items);
    const switched = switchedTemplates(results).map(({ clientId, action, documentIds }) =>
      ports.audit.note({ caller, clientId, act: `template.${action}d`, on: { documentIds } }, 'done'),
    );
    await Promise.all(switched);

    return answer(200, shaped(TemplatesStatusAnswer, { results, summary: summaryOf(results) }));
  });
}

export const handler = deployed(() =>
  templatesStatus({ ...deployedAccess(), ...deployedAudit(), ...deployedStatus() }),
);
