import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { clientEndpoint } from '../lib/access/client-endpoint.ts';
import { directoryStore } from '../lib/access/directory-store.ts';
import { askedClientId, type Clients, operatingClient } from '../lib/access/operating-client.ts';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { secretReader } from '../lib/aws/secrets.ts';
import { queueClient } from '../lib/aws/sqs.ts';
import { answer } from '../lib/http/answer.ts';
import { bodyMaxBytes } from '../lib/http/body.ts';
import { closedObject } from '../lib/http/closed-object.ts';
import type { Endpoint } from '../lib/http/endpoint.ts';
import { jsonBody } from '../lib/http/json-body.ts';
import { parse } from '../lib/http/parse.ts';
import { platformCredentials } from '../lib/platform/credentials.ts';
import { platformTransport } from '../lib/platform/transport.ts';
import { platformTemplates } from '../lib/templates/model/platform-templates.ts';
import { syncLockScope } from '../lib/templates/sync/sync-lock.ts';
import { syncLockStore } from '../lib/templates/sync/sync-lock-store.ts';
import { syncQueue } from '../lib/templates/sync/sync-queue.ts';
import { type StartPorts, startSync } from '../lib/templates/sync/sync-start.ts';

/** `client_id` is checked by `askedClientId`, in whichever of the two places it stands. */
export const TemplatesSyncBody = closedObject({ client_id: v.optional(v.unknown()) });
export const TemplatesSyncQuery = v.object({ client_id: v.optional(v.string()) });

/** POST /v1/templates/sync-from-platform: starts reading the operating client's templates from the platform (D22). */
export function templatesSync(
  deps: StartPorts & { readonly directory: Clients; readonly newId: () => string },
): Endpoint {
  return clientEndpoint(deps, jsonBody({ maxBytes: bodyMaxBytes.plain, optional: true }), async (event) => {
    const { caller } = event;

    const body = parse(TemplatesSyncBody, event.body);
    const query = parse(TemplatesSyncQuery, event.queryStringParameters ?? {});

    const asked = askedClientId({ query: query.client_id, body: body.client_id });
    const clientId = await operatingClient(deps.directory, caller, asked);

    await startSync(deps, { clientId, owner: deps.newId() });

    return answer(200, { status: 'started', message: 'the synchronization has started', clientId });
  });
}

const store = documentClient();
const readSecret = secretReader();
const transport = platformTransport({
  baseUrl: environmentVariable('PLATFORM_BASE_URL'),
  version: environmentVariable('PLATFORM_VERSION'),
  timeoutMs: 8_000,
});
const credentialsSecret = environmentVariable('PLATFORM_CREDENTIALS_SECRET');
export const handler = templatesSync({
  directory: directoryStore(store, environmentVariable('DIRECTORY_TABLE')),
  locks: syncLockStore(store, environmentVariable('TEMPLATES_TABLE')),
  platform: platformTemplates(
    (call) => {
      // One call a request: a connection that went stale while the function was frozen must not cost the client a 502.
      transport.dropIdleConnections();
      return transport.call(call);
    },
    platformCredentials(() => readSecret(credentialsSecret), Date.now),
  ),
  queue: syncQueue(queueClient(), environmentVariable('SYNC_QUEUE_URL')),
  lockScope: syncLockScope(environmentVariable('SYNC_LOCK_SCOPE')),
  nowMs: Date.now,
  newId: randomUUID,
});
