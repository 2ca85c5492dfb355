import { setTimeout as pause } from 'node:timers/promises';
import { ulid } from 'ulid';
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
import { platformCatalogs } from '../lib/catalog/platform-catalogs.ts';
import { answer } from '../lib/http/answer.ts';
import { bodyMaxBytes } from '../lib/http/body.ts';
import type { Endpoint } from '../lib/http/endpoint.ts';
import { jsonBody } from '../lib/http/json-body.ts';
import { parse } from '../lib/http/parse.ts';
import { Refusal } from '../lib/http/refusal.ts';
import { type AcceptPorts, acceptSend } from '../lib/messages/accept/accept-send.ts';
import { acceptanceStore } from '../lib/messages/accept/acceptance-store.ts';
import { acceptOnce, bodyHashOf, type IdempotencyPorts } from '../lib/messages/accept/idempotency.ts';
import { idempotencyStore } from '../lib/messages/accept/idempotency-store.ts';
import { jobQueue } from '../lib/messages/accept/job-queue.ts';
import { idempotencyKeyOf, parseSendRequest } from '../lib/messages/request/send-request.ts';
import { marketingOnboarding } from '../lib/messages/resolve/platform-onboarding.ts';
import { questionStore } from '../lib/messages/resolve/question-store.ts';
import { platformCredentials } from '../lib/platform/credentials.ts';
import { platformTransport } from '../lib/platform/transport.ts';
import { redirectStore } from '../lib/redirects/redirect-store.ts';
import { keepingRedirects } from '../lib/templates/authoring/kept-redirects.ts';
import { platformTemplates } from '../lib/templates/model/platform-templates.ts';
import { templateStore } from '../lib/templates/model/template-store.ts';
import { eventQueue } from '../lib/webhooks/event-queue.ts';

export const MessagesSendPath = v.object({ did: DidSchema });

type Collaborators = AcceptPorts &
  IdempotencyPorts & { readonly directory: Directory; readonly dropIdleConnections: () => void };

/** POST /v1/template/messages/{did}: accepts a template message to up to 10,000 recipients, all of them or none. */
export function messagesSend({ directory, dropIdleConnections, ...ports }: Collaborators): Endpoint {
  return clientEndpoint(ports, jsonBody({ maxBytes: bodyMaxBytes.send }), async (event, context) => {
    const { caller } = event;

    const path = parse(MessagesSendPath, event.pathParameters ?? {});
    const request = parseSendRequest(event.body);
    const key = idempotencyKeyOf(event.headers);
    const askedId = askedClientId({ query: event.queryStringParameters?.['client_id'], body: request.clientId });
    if (path.did !== request.did) {
      throw new Refusal('did_mismatch', 'did of the path and did of the body differ');
    }

    const { clientId, did } = await operatingDid(directory, caller, { did: request.did, askedId });

    dropIdleConnections();
    const remainingMs = () => context.getRemainingTimeInMillis();
    const accept = (jobId: string) => acceptSend({ request, clientId, did, jobId, remainingMs }, ports);
    // An answer already given is found before today's template is looked at: the key comes before 404 and 422.
    const accepted =
      key === undefined
        ? await accept(ports.newJobId())
        : await acceptOnce({ clientId, did: request.did, key }, bodyHashOf(event.body), ports, accept);

    const { jobId, warning } = accepted;
    const body = warning === undefined ? { success: true } : { success: true, warning };
    return answer(200, body, { 'dispatch-id': jobId });
  });
}

const documents = documentClient();
const redirects = redirectStore(documents, environmentVariable('REDIRECTS_TABLE'));
const sqs = queueClient();
const messagesTable = environmentVariable('MESSAGES_TABLE');
const readSecret = secretReader();
const credentialOf = platformCredentials(
  () => readSecret(environmentVariable('PLATFORM_CREDENTIALS_SECRET')),
  Date.now,
);
const platform = platformTransport({
  baseUrl: environmentVariable('PLATFORM_BASE_URL'),
  version: environmentVariable('PLATFORM_VERSION'),
  timeoutMs: 5_000,
});

export const handler = messagesSend({
  directory: directoryStore(documents, environmentVariable('DIRECTORY_TABLE')),
  templates: keepingRedirects(templateStore(documents, environmentVariable('TEMPLATES_TABLE')), redirects),
  platformTemplates: platformTemplates(platform.call, credentialOf),
  catalogIdOf: platformCatalogs(platform.call, credentialOf, Date.now),
  isOnboarded: marketingOnboarding(platform.call, credentialOf, Date.now),
  questions: questionStore(documents, messagesTable),
  events: eventQueue(sqs, environmentVariable('EVENT_QUEUE_URL')),
  queue: jobQueue(sqs, environmentVariable('SEND_JOB_QUEUE_URL')),
  acceptance: acceptanceStore(documents, messagesTable, Date.now),
  records: idempotencyStore(documents, messagesTable),
  dropIdleConnections: platform.dropIdleConnections,
  newJobId: () => ulid(),
  nowMs: Date.now,
  pause: (ms) => pause(ms),
});
