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
import { templateBody, templateOf } from '../lib/http/multipart.ts';
import { answer, type Endpoint, parse, shaped } from '../lib/http/page.ts';
import { templateWarning } from '../lib/messages/request/template-warning.ts';
import { deployedEditing } from '../lib/templates/deployed/authoring.ts';
import { parseEditRequest } from '../lib/templates/edit/edit-request.ts';
import { type EditPorts, editTemplate } from '../lib/templates/edit/edit-template.ts';

export const TemplatesEditPath = v.object({ did: DidSchema, messageTemplateId: v.string() });
export const TemplatesEditQuery = v.object({ client_id: ClientIdText });

export const TemplatesEditAnswer = v.object({
  success: v.literal(true),
  changed: v.boolean(),
  message: v.exactOptional(v.string()),
});

type Ports = EditPorts & { readonly directory: Directory };

/** PUT /v1/templates/{did}/{messageTemplateId}: replaces a template's components, if anything differs (D20). */
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
    const { changed, template: made } = await editTemplate(ports, waba, order);

    const message = changed ? {} : { message: 'nothing differs from the template as it is' };
    return answer(200, shaped(TemplatesEditAnswer, { success: true, changed, ...message }), templateWarning(made));
  });
}

export const handler = deployed(() =>
  templatesEdit({ ...deployedAccess(), ...deployedEditing({ timeoutMs: 15_000 }) }),
);
