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
import { type Audit, audited } from '../lib/audit/audit.ts';
import { deployedAudit } from '../lib/audit/deployed.ts';
import { answer, type Endpoint, noBody, parse, shaped } from '../lib/http/page.ts';
import { type DeletionPorts, deleteTemplate } from '../lib/templates/delete/delete-template.ts';
import { deployedDeletion } from '../lib/templates/deployed/authoring.ts';

export const TemplatesDeletePath = v.object({ did: DidSchema, messageTemplateId: v.string() });
export const TemplatesDeleteQuery = v.object({ client_id: ClientIdText });

export const TemplatesDeleteAnswer = v.object({ success: v.literal(true) });

type Ports = DeletionPorts & { readonly directory: Directory; readonly audit: Audit };

/** DELETE /v1/templates/{did}/{messageTemplateId}: deletes a template for every client of its WABA (D21). */
export function templatesDelete(ports: Ports): Endpoint {
  return clientEndpoint(ports, noBody, async (event) => {
    const { caller } = event;

    const path = parse(TemplatesDeletePath, event.pathParameters ?? {});
    const query = parse(TemplatesDeleteQuery, event.queryStringParameters ?? {});
    const askedId = askedClientId({ query: query.client_id });

    const {
      clientId,
      did: { waba },
    } = await operatingDid(ports.directory, caller, { did: path.did, askedId });

    const on = { wabaId: waba.wabaId, documentIds: [path.messageTemplateId] };
    await audited(ports.audit, { caller, clientId, act: 'template.deleted', on }, () =>
      deleteTemplate(ports, waba, path.messageTemplateId),
    );

    return answer(200, shaped(TemplatesDeleteAnswer, { success: true }));
  });
}

export const handler = deployed(() =>
  templatesDelete({ ...deployedAccess(), ...deployedAudit(), ...deployedDeletion({ timeoutMs: 8_000 }) }),
);
