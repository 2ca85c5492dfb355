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
import { templateBody, templateOf } from '../lib/http/multipart.ts';
import { answer, type Endpoint, parse, shaped } from '../lib/http/page.ts';
import { templateWarning } from '../lib/messages/request/template-warning.ts';
import { PlatformCategory } from '../lib/platform/enums.ts';
import { parseCreateRequest } from '../lib/templates/create/create-request.ts';
import { type CreationPorts, createTemplate } from '../lib/templates/create/create-template.ts';
import { deployedCreation } from '../lib/templates/deployed/authoring.ts';

export const TemplatesCreatePath = v.object({ did: DidSchema });
export const TemplatesCreateQuery = v.object({ client_id: ClientIdText });

export const TemplatesCreateAnswer = v.object({ id: v.string(), status: v.string(), category: PlatformCategory });

type Ports = CreationPorts & { readonly directory: Directory; readonly audit: Audit };

/** POST /v1/templates/{did}: creates a template on a DID's WABA, with header media in any of three ways (D18). */
export function templatesCreate(ports: Ports): Endpoint {
  return clientEndpoint(ports, templateBody, async (event) => {
    const startedAtMs = ports.nowMs();
    const { caller } = event;

    const path = parse(TemplatesCreatePath, event.pathParameters ?? {});
    const query = parse(TemplatesCreateQuery, event.queryStringParameters ?? {});
    const { template, file } = templateOf(event);
    const redirectsOffered = ports.redirects !== undefined;
    const request = parseCreateRequest(template, { file, redirectsOffered, queryClientId: query.client_id });
    const askedId = askedClientId({ query: query.client_id, body: request.clientId });

    const { clientId, did } = await operatingDid(ports.directory, caller, { did: path.did, askedId });

    const { userId } = caller;
    const order = { request, file, did, clientId, userId, startedAtMs };
    const deed = { caller, clientId, act: 'template.created', on: { wabaId: did.waba.wabaId } } as const;
    const { created, template: made } = await audited(
      ports.audit,
      deed,
      () => createTemplate(ports, order),
      ({ created: { id } }) => ({ templateId: id }),
    );

    return answer(200, shaped(TemplatesCreateAnswer, created), templateWarning(made));
  });
}

export const handler = deployed(() => {
  const access = deployedAccess();
  return templatesCreate({
    ...access,
    ...deployedAudit(),
    ...deployedCreation(access.directory, { timeoutMs: 8_000 }),
  });
});
