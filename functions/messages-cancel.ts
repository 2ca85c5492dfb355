import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import {
  askedClientId,
  ClientIdText,
  type Clients,
  clientEndpoint,
  clientIdAdvice,
  DidSchema,
  operatingClient,
} from '../lib/access/page.ts';
import { type Audit, audited } from '../lib/audit/audit.ts';
import { deployedAudit } from '../lib/audit/deployed.ts';
import { answer, type Endpoint, noBody, parse, Refusal, shaped } from '../lib/http/page.ts';
import { deployedCancellation } from '../lib/messages/deployed/reports.ts';
import { type CancelPorts, cancelDispatch } from '../lib/messages/report/cancel.ts';
import { describedDispatch } from '../lib/messages/report/read-report.ts';
import { DispatchSchema, statusAnswer } from '../lib/messages/report/report.ts';

export const MessagesCancelPath = v.object({ did: DidSchema, dispatchId: v.string() });
export const MessagesCancelQuery = v.object({ client_id: ClientIdText });

export const MessagesCancelAnswer = DispatchSchema;

type Ports = CancelPorts & { readonly directory: Clients; readonly audit: Audit };

/**
 * DELETE /v1/template/messages/{did}/{dispatchId}: stops a dispatch, except messages under way (D53), for callers who
 * may read its report.
 */
export function messagesCancel(ports: Ports): Endpoint {
  return clientEndpoint(ports, noBody, async (event) => {
    const { caller } = event;

    const { did, dispatchId } = parse(MessagesCancelPath, event.pathParameters ?? {});
    const { client_id } = parse(MessagesCancelQuery, event.queryStringParameters ?? {});
    const askedId = askedClientId({ query: client_id });

    const clientId = await operatingClient(ports.directory, caller, askedId);
    const dispatch = await describedDispatch(ports.report, dispatchId);
    if (dispatch?.head.clientId !== clientId || dispatch.head.did !== did) {
      throw new Refusal('dispatch_not_found', `dispatch not found${clientIdAdvice(caller, askedId)}`);
    }

    const on = { did, dispatchId };
    const standing = await audited(ports.audit, { caller, clientId, act: 'dispatch.cancelled', on }, () =>
      cancelDispatch(ports, dispatch),
    );
    return answer(200, shaped(MessagesCancelAnswer, statusAnswer(dispatch.head, dispatch.retriedBy, standing)));
  });
}

export const handler = deployed(() =>
  messagesCancel({ ...deployedAccess(), ...deployedAudit(), ...deployedCancellation() }),
);
