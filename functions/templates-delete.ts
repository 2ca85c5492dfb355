import * as v from 'valibot';
import { clientEndpoint } from '../lib/access/client-endpoint.ts';
import { DidSchema } from '../lib/access/did.ts';
import type { Directory } from '../lib/access/directory.ts';
import { directoryStore } from '../lib/access/directory-store.ts';
import { askedClientId } from '../lib/access/operating-client.ts';
import { operatingDid } from '../lib/access/operating-did.ts';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { secretReader } from '../lib/aws/secrets.ts';
import { queueClient } from '../lib/aws/sqs.ts';
import { answer } from '../lib/http/answer.ts';
import { noBody } from '../lib/http/body.ts';
import type { Endpoint } from '../lib/http/endpoint.ts';
import { parse } from '../lib/http/parse.ts';
import { platformCredentials } from '../lib/platform/credentials.ts';
import { platformTransport } from '../lib/platform/transport.ts';
import { redirectStore } from '../lib/redirects/redirect-store.ts';
import { keepingRedirects } from '../lib/templates/authoring/kept-redirects.ts';
import { templateManagement } from '../lib/templates/authoring/platform-template-management.ts';
import { type DeletionPorts, deleteTemplate } from '../lib/templates/delete/delete-template.ts';
import { platformTemplates } from '../lib/templates/model/platform-templates.ts';
import { templateStore } from '../lib/templates/model/template-store.ts';
import { eventQueue } from '../lib/webhooks/event-queue.ts';

export const TemplatesDeletePath = v.object({ did: DidSchema, messageTemplateId: v.string() });
export const TemplatesDeleteQuery = v.object({ client_id: v.optional(v.string()) });

type Collaborators = DeletionPorts & { readonly directory: Directory; readonly dropIdleConnections: () => void };

/** DELETE /v1/templates/{did}/{messageTemplateId}: deletes a template for every client of its WABA (D21). */
export function templatesDelete({ directory, dropIdleConnections, ...ports }: Collaborators): Endpoint {
  return clientEndpoint(ports, noBody, async (event) => {
    const { caller } = event;

    const path = parse(TemplatesDeletePath, event.pathParameters ?? {});
    const query = parse(TemplatesDeleteQuery, event.queryStringParameters ?? {});
    const askedId = askedClientId({ query: query.client_id });

    const { waba } = (await operatingDid(directory, caller, { did: path.did, askedId })).did;

    dropIdleConnections();
    await deleteTemplate(ports, waba, path.messageTemplateId);

    return answer(200, { success: true });
  });
}

const documents = documentClient();
const redirects = redirectStore(documents, environmentVariable('REDIRECTS_TABLE'));
const readSecret = secretReader();
const credentialsSecret = environmentVariable('PLATFORM_CREDENTIALS_SECRET');
const credentialOf = platformCredentials(() => readSecret(credentialsSecret), Date.now);
const platform = platformTransport({
  baseUrl: environmentVariable('PLATFORM_BASE_URL'),
  version: environmentVariable('PLATFORM_VERSION'),
  timeoutMs: 8_000,
});

export const handler = templatesDelete({
  directory: directoryStore(documents, environmentVariable('DIRECTORY_TABLE')),
  templates: keepingRedirects(templateStore(documents, environmentVariable('TEMPLATES_TABLE')), redirects),
  management: templateManagement(platform.call, credentialOf),
  platformTemplates: platformTemplates(platform.call, credentialOf),
  events: eventQueue(queueClient(), environmentVariable('EVENT_QUEUE_URL')),
  dropIdleConnections: platform.dropIdleConnections,
  nowMs: Date.now,
});
