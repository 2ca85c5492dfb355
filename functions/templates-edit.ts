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
import { offeredRedirects } from '../lib/templates/authoring/button-redirects.ts';
import { keepingRedirects } from '../lib/templates/authoring/kept-redirects.ts';
import { platformMedia } from '../lib/templates/authoring/platform-media.ts';
import { templateManagement } from '../lib/templates/authoring/platform-template-management.ts';
import { parseEditRequest } from '../lib/templates/edit/edit-request.ts';
import { type EditPorts, editTemplate } from '../lib/templates/edit/edit-template.ts';
import { platformTemplates } from '../lib/templates/model/platform-templates.ts';
import { templateStore } from '../lib/templates/model/template-store.ts';
import { eventQueue } from '../lib/webhooks/event-queue.ts';

export const TemplatesEditPath = v.object({ did: DidSchema, messageTemplateId: v.string() });
export const TemplatesEditQuery = v.object({ client_id: v.optional(v.string()) });

type Collaborators = EditPorts & { readonly directory: Directory; readonly dropIdleConnections: () => void };

/** PUT /v1/templates/{did}/{messageTemplateId}: replaces a template's components, if anything differs (D20). */
export function templatesEdit({ directory, dropIdleConnections, ...ports }: Collaborators): Endpoint {
  return clientEndpoint(ports, templateBody, async (event) => {
    const startedAtMs = ports.nowMs();
    const { caller } = event;

    const { did, messageTemplateId } = parse(TemplatesEditPath, event.pathParameters ?? {});
    const query = parse(TemplatesEditQuery, event.queryStringParameters ?? {});
    const { template, file } = templateOf(event);
    const request = parseEditRequest(template, { redirectsOffered: ports.redirects !== undefined });
    const askedId = askedClientId({ query: query.client_id, body: request.clientId });

    const {
      clientId,
      did: { waba },
    } = await operatingDid(directory, caller, { did, askedId });

    dropIdleConnections();
    const changed = await editTemplate(ports, waba, { messageTemplateId, clientId, request, file, startedAtMs });

    if (changed) return answer(200, { success: true, changed });
    return answer(200, { success: true, changed, message: 'nothing differs from the template as it is' });
  });
}

const documents = documentClient();
const redirects = redirectStore(documents, environmentVariable('REDIRECTS_TABLE'));
const readSecret = secretReader();
const credentialsSecret = environmentVariable('PLATFORM_CREDENTIALS_SECRET');
const platform = platformTransport({
  baseUrl: environmentVariable('PLATFORM_BASE_URL'),
  version: environmentVariable('PLATFORM_VERSION'),
  timeoutMs: 15_000,
});
const credentialOf = platformCredentials(() => readSecret(credentialsSecret), Date.now);

export const handler = templatesEdit({
  directory: directoryStore(documents, environmentVariable('DIRECTORY_TABLE')),
  templates: keepingRedirects(templateStore(documents, environmentVariable('TEMPLATES_TABLE')), redirects),
  management: templateManagement(platform.call, credentialOf),
  platformTemplates: platformTemplates(platform.call, credentialOf),
  redirects: offeredRedirects(optionalVariable('REDIRECT_BASE_URL'), redirects),
  fetchPublic,
  uploadMedia: platformMedia(platform.call, credentialOf),
  events: eventQueue(queueClient(), environmentVariable('EVENT_QUEUE_URL')),
  dropIdleConnections: platform.dropIdleConnections,
  nowMs: Date.now,
});
