import { ulid } from 'ulid';
import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import {
  askedClientId,
  ClientIdText,
  clientEndpoint,
  DidSchema,
  type Directory,
  operatingDid,
} from '../lib/access/page.ts';
import {
  answer,
  bodyMaxBytes,
  type Endpoint,
  jsonBody,
  parse,
  parseHeaders,
  Refusal,
  shaped,
} from '../lib/http/page.ts';
import { type AcceptPorts, acceptSend } from '../lib/messages/accept/accept.ts';
import { AcceptedAnswer, acceptRequest, type IdempotencyPorts } from '../lib/messages/accept/idempotency.ts';
import { SendHeaders } from '../lib/messages/accept/send-headers.ts';
import { costLimitsOf } from '../lib/messages/budget/cost-limits.ts';
import { deployedAcceptance, deployedSendable } from '../lib/messages/deployed/acceptance.ts';
import { RehearsalAnswer, type RehearsePorts, rehearseSend } from '../lib/messages/rehearse/rehearse-send.ts';
import { parseSendRequest } from '../lib/messages/request/send-request.ts';
import type { FindSendable } from '../lib/messages/resolve/sendable-store.ts';
import { sendTimeOf } from '../lib/messages/when/send-time.ts';

export const MessagesSendPath = v.object({ did: DidSchema });
export const MessagesSendQuery = v.object({ client_id: ClientIdText });
export const MessagesSendAnswer = AcceptedAnswer;

type Given = AcceptPorts &
  RehearsePorts &
  IdempotencyPorts & { readonly directory: Directory; readonly findSendable: FindSendable };
type Ports = Omit<Given, 'remainingMs'>;

/**
 * POST /v1/template/messages/{did}: accepts a template message to up to 10,000 recipients, all or none, or rehearses
 * it.
 */
export function messagesSend(given: Ports): Endpoint {
  const reads = { body: jsonBody({ maxBytes: bodyMaxBytes.send }), headers: SendHeaders };
  return clientEndpoint(given, reads, async (event, context) => {
    const { caller } = event;
    const ports = { ...given, remainingMs: () => context.getRemainingTimeInMillis() };

    const path = parse(MessagesSendPath, event.pathParameters ?? {});
    const request = parseSendRequest(event.body);
    const headers = parseHeaders(SendHeaders, event);
    const { 'Idempotency-Key': key, 'Dry-Run': dryRun } = headers;
    const time = sendTimeOf(headers);
    const query = parse(MessagesSendQuery, event.queryStringParameters ?? {});
    const askedId = askedClientId({ query: query.client_id, body: request.clientId });
    if (path.did !== request.did) {
      throw new Refusal('did_mismatch', 'did of the path and did of the body differ');
    }

    const found = ports.findSendable({ did: request.did, clientId: askedId ?? caller.clientId, ...request.template });
    const directory = { ...ports.directory, findDid: async () => (await found).did };
    const { clientId, did } = await operatingDid(directory, caller, { did: request.did, askedId });
    const { template: read } = await found;

    const means = costLimitsOf(did, clientId, headers['Max-Cost']);
    const send = { request, caller, clientId, did, read, means, time };
    if (dryRun === 'true') {
      const rehearsed = await rehearseSend({ ...send, dispatchId: ports.newDispatchId() }, ports);
      return answer(200, shaped(RehearsalAnswer, rehearsed));
    }

    const asked = { clientId, did: request.did, key, compared: event.body, time };
    const accept = (dispatchId: string) => acceptSend({ ...send, dispatchId }, ports);
    const { dispatchId, warning } = await acceptRequest(asked, ports, accept);
    const body = shaped(MessagesSendAnswer, { success: true, warning });
    return answer(200, body, { 'dispatch-id': dispatchId });
  });
}

export const handler = deployed(() =>
  messagesSend({
    ...deployedAccess(),
    ...deployedAcceptance({ timeoutMs: 5_000 }),
    findSendable: deployedSendable(),
    newDispatchId: () => ulid(),
  }),
);
