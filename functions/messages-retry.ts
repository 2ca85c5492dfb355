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
import { present } from '../lib/keys/present.ts';
import { giveBackOf } from '../lib/messages/accept/accept-within-means.ts';
import { AcceptedAnswer } from '../lib/messages/accept/accepted-answer.ts';
import { acceptOnce, bodyHashOf, type IdempotencyPorts } from '../lib/messages/accept/idempotency.ts';
import { SendHeaders } from '../lib/messages/accept/send-headers.ts';
import { meansOf } from '../lib/messages/budget/means.ts';
import { deployedRetry } from '../lib/messages/deployed/retry.ts';
import { RehearsalAnswer, type RehearsePorts, rehearseSend } from '../lib/messages/rehearse/rehearse-send.ts';
import { parseRetryRequest } from '../lib/messages/retry/retry-request.ts';
import { acceptRetry, type RetryPorts, rehearsedRetry } from '../lib/messages/retry/retry-send.ts';
import { sendTimeOf } from '../lib/messages/when/send-time.ts';

export const MessagesRetryPath = v.object({ did: DidSchema, dispatchId: v.string() });
export const MessagesRetryQuery = v.object({ client_id: ClientIdText });

type Ports = RetryPorts & RehearsePorts & Omit<IdempotencyPorts, 'remainingMs'> & { readonly directory: Directory };

/**
 * POST /v1/template/messages/{did}/{dispatchId}/retry: accepts a new dispatch of those that one did not reach, for a cause that
 * may pass; or rehearses it (D57).
 */
export function messagesRetry(ports: Ports): Endpoint {
  const reads = { body: jsonBody({ maxBytes: bodyMaxBytes.plain, optional: true }), headers: SendHeaders };
  return clientEndpoint(ports, reads, async (event, context) => {
    const { caller } = event;

    const { did: givenDid, dispatchId } = parse(MessagesRetryPath, event.pathParameters ?? {});
    const codes = parseRetryRequest(event.body);
    const headers = parseHeaders(SendHeaders, event);
    const { 'Idempotency-Key': key, 'Dry-Run': dryRun } = headers;
    const time = sendTimeOf(headers);
    const query = parse(MessagesRetryQuery, event.queryStringParameters ?? {});
    const askedId = askedClientId({ query: query.client_id });

    const { clientId, did } = await operatingDid(ports.directory, caller, { did: givenDid, askedId });
    const means = meansOf(did, clientId, headers['Max-Cost']);
    const asked = { caller, clientId, did, dispatchId, codes, means, ...present({ time }) };
    const retryOf = (jobId: string) => ({ ...asked, jobId });
    const missing = `dispatch not found${clientIdAdvice(caller, askedId)}`;

    if (dryRun === 'true') {
      const rehearsal = rehearsedRetry(retryOf(ports.newJobId()), ports, (send) => rehearseSend(send, ports));
      return answer(200, shaped(RehearsalAnswer, await found(rehearsal, missing)));
    }

    const remainingMs = () => context.getRemainingTimeInMillis();
    const accept = (jobId: string) => found(acceptRetry({ ...retryOf(jobId), remainingMs }, ports), missing);
    // As of a send: an answer already given is found before anything is looked at. A key belongs to one route and dispatch.
    const accepted =
      key === undefined
        ? await accept(ports.newJobId())
        : await acceptOnce(
            { clientId, did: givenDid, key },
            bodyHashOf(['retry', dispatchId, event.body], time?.asked),
            { ...ports, remainingMs, takenBack: giveBackOf(clientId, means, { ...ports, remainingMs }) },
            accept,
          );

    const { jobId, warning } = accepted;
    const body = shaped(AcceptedAnswer, { success: true, ...present({ warning }) });
    return answer(200, body, { 'dispatch-id': jobId });
  });
}

/** Who may work for several clients is told to name one. */
async function found<T>(retry: Promise<T>, missing: string): Promise<T> {
  try {
    return await retry;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'dispatch_not_found') throw new Refusal(error.code, missing);
    throw error;
  }
}

export const handler = deployed(() =>
  messagesRetry({ ...deployedAccess(), ...deployedRetry({ timeoutMs: 5_000 }), newJobId: () => ulid() }),
);
