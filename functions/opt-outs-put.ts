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

export const OptOutsPutPath = RecipientPath;
export const OptOutsPutQuery = v.object({ client_id: ClientIdText });

export const OptOutsPutAnswer = OptOutSchema;

type Ports = ClientOptOutPorts & { readonly directory: Clients; readonly audit: Audit };

/** PUT /v1/opt-outs/{recipient}: stops the operating client's marketing to a person (D55). */
export function optOutsPut(ports: Ports): Endpoint {
  return clientEndpoint(ports, noBody, async (event) => {
    const { recipient } = parse(OptOutsPutPath, event.pathParameters ?? {});
    const { client_id } = parse(OptOutsPutQuery, event.queryStringParameters ?? {});

    const clientId = await operatingClient(ports.directory, event.caller, askedClientId({ query: client_id }));
    // The audit never names the person (D60).
    const deed = { caller: event.caller, clientId, act: 'opt_out.stopped', on: { count: 1 } } as const;
    const optOut = await audited(ports.audit, deed, () =>
      recordClientOptOut({ clientId, recipient, says: 'stopped' }, ports),
    );

    return answer(200, shaped(OptOutsPutAnswer, optOut));
  });
}

export const handler = deployed(() =>
  optOutsPut({
    ...deployedAccess(),
    ...deployedAudit(),
    channels: deployedChannels(),
    optOuts: deployedOptOutWriter(),
    events: deployedEvents(),
  }),
);
