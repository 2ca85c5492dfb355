import { ulid } from 'ulid';
import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import {
  askedClientId,
  ClientIdText,
  clientEndpoint,
  clientIdAdvice,
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
import { AcceptedAnswer, acceptRequest, type IdempotencyPorts } from '../lib/messages/accept/idempotency.ts';
import { SendHeaders } from '../lib/messages/accept/send-headers.ts';
import { costLimitsOf } from '../lib/messages/budget/cost-limits.ts';
import { deployedRetry } from '../lib/messages/deployed/retry.ts';
import { RehearsalAnswer, type RehearsePorts, rehearseSend } from '../lib/messages/rehearse/rehearse-send.ts';
import { parseRetryRequest } from '../lib/messages/retry/retry-request.ts';
import { acceptRetry, type RetryPorts, rehearsedRetry } from '../lib/messages/retry/retry-send.ts';
import { sendTimeOf } from '../lib/messages/when/send-time.ts';

export const MessagesRetryPath = v.object({ did: DidSchema, dispatchId: v.string() });
export const MessagesRetryQuery = v.object({ client_id: ClientIdText });

type Given = RetryPorts & RehearsePorts & IdempotencyPorts & { readonly directory: Directory };
type Ports = Omit<Given, 'remainingMs'>;

/**
 * POST /v1/template/messages/{did}/{dispatchId}/retry: accepts or rehearses a new dispatch to the unreached recipients
 * whose cause may pass (D57).
 */
export function messagesRetry(given: Ports): Endpoint {
  const reads = { body: jsonBody({ maxBytes: bodyMaxBytes.plain, optional: true }), headers: SendHeaders };
  return clientEndpoint(given, reads, async (event, context) => {
    const { caller } = event;
    const ports = { ...given, remainingMs: () => context.getRemainingTimeInMillis() };

    const { did: givenDid, dispatchId: sourceId } = parse(MessagesRetryPath, event.pathParameters ?? {});
    const codes = parseRetryRequest(event.body);
    const headers = parseHeaders(SendHeaders, event);
    const { 'Idempotency-Key': key, 'Dry-Run': dryRun } = headers;
    const time = sendTimeOf(headers);
    const query = parse(MessagesRetryQuery, event.queryStringParameters ?? {});
    const askedId = askedClientId({ query: query.client_id });

    const { clientId, did } = await operatingDid(ports.directory, caller, { did: givenDid, askedId });
    const means = costLimitsOf(did, clientId, headers['Max-Cost']);
    const retryOf = (dispatchId: string) => ({ caller, clientId, did, sourceId, codes, means, time, dispatchId });
    const missing = `dispatch not found${clientIdAdvice(caller, askedId)}`;

    if (dryRun === 'true') {
      const rehearsal = rehearsedRetry(retryOf(ports.newDispatchId()), ports, (send) => rehearseSend(send, ports));
      return answer(200, shaped(RehearsalAnswer, await found(rehearsal, missing)));
    }

    // A key belongs to one route and dispatch.
    const asked = { clientId, did: givenDid, key, compared: ['retry', sourceId, event.body], time };
    const accept = (dispatchId: string) => found(acceptRetry(retryOf(dispatchId), ports), missing);
    const { dispatchId, warning } = await acceptRequest(asked, ports, accept);
    const body = shaped(AcceptedAnswer, { success: true, warning });
    return answer(200, body, { 'dispatch-id': dispatchId });
  });
}

/** A caller with several clients is told to name one. */
async function found<T>(retry: Promise<T>, missing: string): Promise<T> {
  try {
    return await retry;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'dispatch_not_found') throw new Refusal(error.code, missing);
    throw error;
  }
}

export const handler = deployed(() =>
  messagesRetry({ ...deployedAccess(), ...deployedRetry({ timeoutMs: 5_000 }), newDispatchId: () => ulid() }),
);
