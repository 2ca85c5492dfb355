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
import { deployedTemplateHolds } from '../lib/messages/deployed/account-updates.ts';
import { deployedFinding } from '../lib/messages/deployed/reports.ts';
import { type OpenPorts, waitingForReview } from '../lib/messages/find/open-dispatches.ts';
import { templateWarning } from '../lib/messages/request/template-warning.ts';
import { deployedEditing } from '../lib/templates/deployed/authoring.ts';
import { parseEditRequest } from '../lib/templates/edit/edit-request.ts';
import { type EditPorts, editTemplate } from '../lib/templates/edit/edit-template.ts';

export const TemplatesEditPath = v.object({ did: DidSchema, messageTemplateId: v.string() });
export const TemplatesEditQuery = v.object({ client_id: ClientIdText });

export const TemplatesEditAnswer = v.object({
  success: v.literal(true),
  changed: v.boolean(),
  message: v.optional(v.string()),
});

type Ports = EditPorts & { readonly directory: Directory; readonly audit: Audit; readonly open: OpenPorts };

/** PUT /v1/templates/{did}/{messageTemplateId}: replaces a template's components, if they differ (D20). */
export function templatesEdit(ports: Ports): Endpoint {
  return clientEndpoint(ports, templateBody, async (event) => {
    const startedAtMs = ports.nowMs();
    const { caller } = event;

    const { did, messageTemplateId } = parse(TemplatesEditPath, event.pathParameters ?? {});
    const query = parse(TemplatesEditQuery, event.queryStringParameters ?? {});
    const { template, file } = templateOf(event);
    const request = parseEditRequest(template, {
      redirectsOffered: ports.redirects !== undefined,
      queryClientId: query.client_id,
    });
    const askedId = askedClientId({ query: query.client_id, body: request.clientId });

    const {
      clientId,
      did: { waba },
    } = await operatingDid(ports.directory, caller, { did, askedId });

    const order = { messageTemplateId, clientId, request, file, startedAtMs };
    const on = { wabaId: waba.wabaId, documentIds: [messageTemplateId] };
    const { changed, template: made } = await audited(
      ports.audit,
      { caller, clientId, act: 'template.edited', on },
      () => editTemplate(ports, waba, order),
      (edited) => (edited.changed ? {} : undefined),
    );

    const message = changed ? {} : { message: 'nothing differs from the template as it is' };
    const waiting = changed
      ? await waitingForReview(ports.open, { clientId, name: made.name, language: made.language })
      : undefined;
    return answer(
      200,
      shaped(TemplatesEditAnswer, { success: true, changed, ...message }),
      templateWarning(made, waiting),
    );
  });
}

export const handler = deployed(() =>
  templatesEdit({
    ...deployedAccess(),
    ...deployedAudit(),
    ...deployedEditing({ timeoutMs: 15_000 }),
    ...deployedTemplateHolds(),
    open: deployedFinding(),
  }),
);
