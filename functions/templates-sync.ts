import { randomUUID } from 'node:crypto';
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
import { closedObject } from '../lib/http/closed-object.ts';
import { answer, bodyMaxBytes, type Endpoint, jsonBody, parse, shaped, wholeNumber } from '../lib/http/page.ts';
import { deployedPlatform } from '../lib/platform/deployed.ts';
import { deployedSync } from '../lib/templates/deployed/sync.ts';
import { type StartPorts, startMessage, startSync } from '../lib/templates/sync/sync-start.ts';

export const TemplatesSyncBody = closedObject({ client_id: ClientIdJson });
export const TemplatesSyncQuery = v.object({ client_id: ClientIdText });

export const TemplatesSyncAnswer = v.object({
  status: v.literal('started'),
  message: v.string(),
  clientId: wholeNumber,
});

/** POST /v1/templates/sync-from-platform: starts reading the operating client's templates from the platform (D22). */
export function templatesSync(
  ports: StartPorts & { readonly directory: Clients; readonly newId: () => string },
): Endpoint {
  return clientEndpoint(ports, jsonBody({ maxBytes: bodyMaxBytes.plain, optional: true }), async (event) => {
    const { caller } = event;

    const body = parse(TemplatesSyncBody, event.body);
    const query = parse(TemplatesSyncQuery, event.queryStringParameters ?? {});

    const asked = askedClientId({ query: query.client_id, body: body.client_id });
    const clientId = await operatingClient(ports.directory, caller, asked);

    const message = startMessage(await startSync(ports, { clientId, owner: ports.newId() }));

    return answer(200, shaped(TemplatesSyncAnswer, { status: 'started', message, clientId }));
  });
}

export const handler = deployed(() =>
  templatesSync({ ...deployedAccess(), ...deployedSync(deployedPlatform({ timeoutMs: 8_000 })), newId: randomUUID }),
);
