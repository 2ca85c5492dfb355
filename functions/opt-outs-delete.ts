import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { askedClientId, ClientIdText, type Clients, clientEndpoint, operatingClient } from '../lib/access/page.ts';
import { type Audit, audited } from '../lib/audit/audit.ts';
import { deployedAudit } from '../lib/audit/deployed.ts';
import { deployedChannels } from '../lib/channels/deployed.ts';
import { answer, type Endpoint, noBody, parse, shaped } from '../lib/http/page.ts';
import { RecipientPath } from '../lib/messages/request/recipient-path.ts';
import { type ClientOptOutPorts, recordClientOptOut } from '../lib/opt-outs/client-opt-out.ts';
import { deployedOptOutWriter } from '../lib/opt-outs/deployed.ts';
import { OptOutSchema } from '../lib/opt-outs/opt-out-view.ts';
import { deployedEvents } from '../lib/webhooks/deployed.ts';

export const OptOutsDeletePath = RecipientPath;
export const OptOutsDeleteQuery = v.object({ client_id: ClientIdText });

export const OptOutsDeleteAnswer = OptOutSchema;

type Ports = ClientOptOutPorts & { readonly directory: Clients; readonly audit: Audit };

/** DELETE /v1/opt-outs/{recipient}: lifts the operating client's own stop; the person's stays (D55). */
export function optOutsDelete(ports: Ports): Endpoint {
  return clientEndpoint(ports, noBody, async (event) => {
    const { recipient } = parse(OptOutsDeletePath, event.pathParameters ?? {});
    const { client_id } = parse(OptOutsDeleteQuery, event.queryStringParameters ?? {});

    const clientId = await operatingClient(ports.directory, event.caller, askedClientId({ query: client_id }));
    // The audit never names the person (D60).
    const deed = { caller: event.caller, clientId, act: 'opt_out.lifted', on: { count: 1 } } as const;
    const optOut = await audited(ports.audit, deed, () =>
      recordClientOptOut({ clientId, recipient, says: 'started' }, ports),
    );

    return answer(200, shaped(OptOutsDeleteAnswer, optOut));
  });
}

export const handler = deployed(() =>
  optOutsDelete({
    ...deployedAccess(),
    ...deployedAudit(),
    channels: deployedChannels(),
    optOuts: deployedOptOutWriter(),
    events: deployedEvents(),
  }),
);
