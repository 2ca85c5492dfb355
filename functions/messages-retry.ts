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
import { acceptRequest } from '../lib/messages/accept/accept-request.ts';
import { AcceptedAnswer } from '../lib/messages/accept/accepted-answer.ts';
import type { IdempotencyPorts } from '../lib/messages/accept/idempotency.ts';
import { countingPlatformFailure } from '../lib/messages/accept/platform-failed-send.ts';
import { SendHeaders } from '../lib/messages/accept/send-headers.ts';
import { costLimitsOf } from '../lib/messages/budget/cost-limits.ts';
import { deployedRetry } from '../lib/messages/deployed/retry.ts';
import { RehearsalAnswer, type RehearsePorts, rehearseSend } from '../lib/messages/rehearse/rehearse-send.ts';
import { parseRetryRequest } from '../lib/messages/retry/retry-request.ts';
import { acceptRetry, type RetryPorts, rehearsedRetry } from '../lib/messages/retry/retry-send.ts';
import { sendTimeOf } from '../lib/messages/when/send-time.ts';

export const MessagesRetryPath = v.object({ did: DidSchema, dispatchId: v.string() });
export const MessagesRetryQuery = v.object({ client_id: ClientIdText });

type Ports = RetryPorts & RehearsePorts & Omit<IdempotencyPorts, 'remainingMs'> & { readonly directory: Directory };

/**
 * POST /v1/template/messages/{did}/{dispatchId}/retry: accepts or rehearses a new dispatch to the unreached recipients
 * whose cause may pass (D57).
 */
export function messagesRetry(ports: Ports): Endpoint {
  const reads = { body: jsonBody({ maxBytes: bodyMaxBytes.plain, optional: true }), headers: SendHeaders };
  return clientEndpoint(ports, reads, async (event, context) => {
    return await countingPlatformFailure(async () => {
      const { caller } = event;

      const { did: givenDid, dispatchId: sourceId } = parse(MessagesRetryPath, event.pathParameters ?? {});
      const codes = parseRetryRequest(event.body);
      const headers = parseHeaders(SendHeaders, event);
      const { 'Idempotency-Key': key, 'Dry-Run': dryRun } = headers;
      const time = sendTimeOf(headers);
      const query = parse(MessagesRetryQuery, event.queryStringParameters ?? {});
      const askedId = askedClientId({ query: query.client_id });

      const { clientId, did } = await operatingDid(ports.directory, caller, { did: givenDid, askedId });
      const means = costLimitsOf(did, clientId, headers['Max-Cost']);
      const asked = { caller, clientId, did, sourceId, codes, means, time };
      const retryOf = (dispatchId: string) => ({ ...asked, dispatchId });
      const missing = `dispatch not found${clientIdAdvice(caller, askedId)}`;

      if (dryRun === 'true') {
        const rehearsal = rehearsedRetry(retryOf(ports.newDispatchId()), ports, (send) => rehearseSend(send, ports));
        return answer(200, shaped(RehearsalAnswer, await found(rehearsal, missing)));
      }

      const remainingMs = () => context.getRemainingTimeInMillis();
      const accept = (dispatchId: string) =>
        found(acceptRetry({ ...retryOf(dispatchId), remainingMs }, ports), missing);
      // A key belongs to one route and dispatch.
      const compared = ['retry', sourceId, event.body];
      const request = { clientId, did: givenDid, key, compared, time, means, remainingMs };
      const { dispatchId, warning } = await acceptRequest(request, ports, accept);
      const body = shaped(AcceptedAnswer, { success: true, warning });
      return answer(200, body, { 'dispatch-id': dispatchId });
    });
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
