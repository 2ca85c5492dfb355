import { ulid } from 'ulid';
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
import { Refusal } from '../lib/http/refusal.ts';
import { type AcceptPorts, acceptSend } from '../lib/messages/accept-send.ts';
import { acceptanceStore } from '../lib/messages/acceptance-store.ts';
import { acceptOnce, bodyHashOf, type IdempotencyPorts } from '../lib/messages/idempotency.ts';
import { idempotencyStore } from '../lib/messages/idempotency-store.ts';
import { jobQueue } from '../lib/messages/job-queue.ts';
import { idempotencyKeyOf, parseSendRequest } from '../lib/messages/send-request.ts';
import { platformCatalogs } from '../lib/platform/catalogs.ts';
import { platformCredentials } from '../lib/platform/credentials.ts';
import { platformTemplates } from '../lib/platform/templates.ts';
import { platformTransport } from '../lib/platform/transport.ts';
import { redirectStore } from '../lib/redirects/store.ts';
import { keepingRedirects } from '../lib/templates/kept-redirects.ts';
import { templateStore } from '../lib/templates/store.ts';
import { eventQueue } from '../lib/webhooks/event-queue.ts';

type Collaborators = AcceptPorts &
  IdempotencyPorts & { readonly directory: Directory; readonly dropIdleConnections: () => void };

/** POST /v1/template/messages/{did}: accepts a template message to up to 10,000 recipients, all of them or none. */
export function messagesSend({ directory, dropIdleConnections, ...ports }: Collaborators): Endpoint {
  return endpoint(
    async (event, context) => {
      const caller = callerOf(event, ports.nowMs());

      const request = parseSendRequest(event.body);
      const key = idempotencyKeyOf(event.headers);
      const askedId = askedClientId({ query: event.queryStringParameters?.['client_id'], body: request.clientId });
      if (event.pathParameters?.['did'] !== request.did) {
        throw new Refusal('did_mismatch', 'did of the path and did of the body differ');
      }

      const clientId = operatingClient(caller, askedId);
      const did = usableDid(await directory.findDid(request.did), clientId);

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
    },
    { body: 'json' },
  );
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
  events: eventQueue(sqs, environmentVariable('EVENT_QUEUE_URL')),
  queue: jobQueue(sqs, environmentVariable('SEND_JOB_QUEUE_URL')),
  acceptance: acceptanceStore(documents, messagesTable, Date.now),
  records: idempotencyStore(documents, messagesTable),
  dropIdleConnections: platform.dropIdleConnections,
  newJobId: () => ulid(),
  nowMs: Date.now,
});
