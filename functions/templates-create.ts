import * as v from 'valibot';
import { clientEndpoint } from '../lib/access/client-endpoint.ts';
import { DidSchema } from '../lib/access/did.ts';
import type { Directory } from '../lib/access/directory.ts';
import { directoryStore } from '../lib/access/directory-store.ts';
import { askedClientId } from '../lib/access/operating-client.ts';
import { operatingDid } from '../lib/access/operating-did.ts';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable, optionalVariable } from '../lib/aws/environment.ts';
import { secretReader } from '../lib/aws/secrets.ts';
import { queueClient } from '../lib/aws/sqs.ts';
import { answer } from '../lib/http/answer.ts';
import type { Endpoint } from '../lib/http/endpoint.ts';
import { fetchPublic } from '../lib/http/fetch-network.ts';
import { templateBody, templateOf } from '../lib/http/multipart.ts';
import { parse } from '../lib/http/parse.ts';
import { platformCredentials } from '../lib/platform/credentials.ts';
import { platformTransport } from '../lib/platform/transport.ts';
import { redirectStore } from '../lib/redirects/redirect-store.ts';
import { pairFaults } from '../lib/templates/assignments/assignment-request.ts';
import { offeredRedirects } from '../lib/templates/authoring/button-redirects.ts';
import { platformMedia } from '../lib/templates/authoring/platform-media.ts';
import { templateManagement } from '../lib/templates/authoring/platform-template-management.ts';
import { parseCreateRequest } from '../lib/templates/create/create-request.ts';
import { type CreationPorts, createTemplate } from '../lib/templates/create/create-template.ts';
import { creationStore } from '../lib/templates/create/creation-store.ts';
import { eventQueue } from '../lib/webhooks/event-queue.ts';

export const TemplatesCreatePath = v.object({ did: DidSchema });
export const TemplatesCreateQuery = v.object({ client_id: v.optional(v.string()) });

type Collaborators = CreationPorts & { readonly directory: Directory; readonly dropIdleConnections: () => void };

/** POST /v1/templates/{did}: creates a template on the WABA of a DID, with header media in any of three ways (D18). */
export function templatesCreate({ directory, dropIdleConnections, ...ports }: Collaborators): Endpoint {
  return clientEndpoint(ports, templateBody, async (event) => {
    const startedAtMs = ports.nowMs();
    const { caller } = event;

    const path = parse(TemplatesCreatePath, event.pathParameters ?? {});
    const query = parse(TemplatesCreateQuery, event.queryStringParameters ?? {});
    const { template, file } = templateOf(event);
    const redirectsOffered = ports.redirects !== undefined;
    const request = parseCreateRequest(template, { fileAttached: file !== undefined, redirectsOffered });
    const askedId = askedClientId({ query: query.client_id, body: request.clientId });

    const { clientId, did } = await operatingDid(directory, caller, { did: path.did, askedId });

    dropIdleConnections();
    const { userId } = caller;
    const created = await createTemplate(ports, { request, file, did, clientId, userId, startedAtMs });

    return answer(200, created);
  });
}

const documents = documentClient();
const readSecret = secretReader();
const credentialsSecret = environmentVariable('PLATFORM_CREDENTIALS_SECRET');
const credentialOf = platformCredentials(() => readSecret(credentialsSecret), Date.now);
const platform = platformTransport({
  baseUrl: environmentVariable('PLATFORM_BASE_URL'),
  version: environmentVariable('PLATFORM_VERSION'),
  timeoutMs: 8_000,
});
const redirects = redirectStore(documents, environmentVariable('REDIRECTS_TABLE'));
const directory = directoryStore(documents, environmentVariable('DIRECTORY_TABLE'));

export const handler = templatesCreate({
  directory,
  creations: creationStore(documents, environmentVariable('TEMPLATES_TABLE')),
  management: templateManagement(platform.call, credentialOf),
  redirects: offeredRedirects(optionalVariable('REDIRECT_BASE_URL'), redirects),
  pairFaults: (template, pairs) => pairFaults(directory, template, pairs),
  fetchPublic,
  uploadMedia: platformMedia(platform.call, credentialOf),
  events: eventQueue(queueClient(), environmentVariable('EVENT_QUEUE_URL')),
  dropIdleConnections: platform.dropIdleConnections,
  nowMs: Date.now,
});
