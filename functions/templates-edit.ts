import * as v from 'valibot';
import { callerOf } from '../lib/access/caller.ts';
import { type Directory, usableDid } from '../lib/access/directory.ts';
import { directoryStore } from '../lib/access/directory-store.ts';
import { askedClientId, operatingClient } from '../lib/access/operating-client.ts';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { secretReader } from '../lib/aws/secrets.ts';
import { queueClient } from '../lib/aws/sqs.ts';
import { answer } from '../lib/http/answer.ts';
import { type Endpoint, endpoint } from '../lib/http/endpoint.ts';
import { parse } from '../lib/http/parse.ts';
import { platformCredentials } from '../lib/platform/credentials.ts';
import { templateManagement } from '../lib/platform/template-management.ts';
import { platformTransport } from '../lib/platform/transport.ts';
import { type EditPorts, editTemplate } from '../lib/templates/edit-template.ts';
import { templateStore } from '../lib/templates/store.ts';
import {
  AllowButtonUrlChangeSchema,
  CategorySchema,
  ComponentsSchema,
  OptimizationSpecSchema,
} from '../lib/templates/template-request.ts';
import { eventQueue } from '../lib/webhooks/event-queue.ts';

export const TemplatesEditPath = v.object({ did: v.string(), messageTemplateId: v.string() });
export const TemplatesEditQuery = v.object({ client_id: v.optional(v.string()) });

/** A template's name and language never change: both are read, and ignored. */
export const TemplatesEditBody = v.object({
  name: v.optional(v.string()),
  language: v.optional(v.string()),
  category: v.optional(CategorySchema),
  components: ComponentsSchema,
  client_id: v.optional(v.unknown()),
  allow_button_url_change: v.optional(AllowButtonUrlChangeSchema),
  optimization_spec: v.optional(OptimizationSpecSchema),
});

type Collaborators = EditPorts & { readonly directory: Directory; readonly dropIdleConnections: () => void };

/** PUT /v1/templates/{did}/{messageTemplateId}: replaces a template's components, if anything differs (D20). */
export function templatesEdit({ directory, dropIdleConnections, ...ports }: Collaborators): Endpoint {
  return endpoint(
    async (event) => {
      const caller = callerOf(event, ports.nowMs());

      const { did, messageTemplateId } = parse(TemplatesEditPath, event.pathParameters);
      const query = parse(TemplatesEditQuery, event.queryStringParameters ?? {});
      const body = parse(TemplatesEditBody, event.body);
      const askedId = askedClientId({ query: query.client_id, body: body.client_id });

      const clientId = operatingClient(caller, askedId);
      const { waba } = usableDid(await directory.findDid(did), clientId);

      dropIdleConnections();
      const { category, components, optimization_spec: optimizationSpec } = body;
      const changed = await editTemplate(ports, waba, { messageTemplateId, category, components, optimizationSpec });

      if (changed) return answer(200, { success: true, changed });
      return answer(200, { success: true, changed, message: 'nothing differs from the template as it is' });
    },
    { body: 'json' },
  );
}

const documents = documentClient();
const readSecret = secretReader();
const credentialsSecret = environmentVariable('PLATFORM_CREDENTIALS_SECRET');
const platform = platformTransport({
  baseUrl: environmentVariable('PLATFORM_BASE_URL'),
  version: environmentVariable('PLATFORM_VERSION'),
  timeoutMs: 15_000,
});

export const handler = templatesEdit({
  directory: directoryStore(documents, environmentVariable('DIRECTORY_TABLE')),
  templates: templateStore(documents, environmentVariable('TEMPLATES_TABLE')),
  management: templateManagement(
    platform.call,
    platformCredentials(() => readSecret(credentialsSecret), Date.now),
  ),
  events: eventQueue(queueClient(), environmentVariable('EVENT_QUEUE_URL')),
  dropIdleConnections: platform.dropIdleConnections,
  nowMs: Date.now,
});
