import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { clientEndpoint, type Directory } from '../lib/access/page.ts';
import { answer, type Endpoint, noBody, shaped } from '../lib/http/page.ts';
import { NeededAtSendSchema, neededAtSend } from '../lib/messages/request/needed-at-send.ts';
import { seenTemplate, templateOfClient } from '../lib/templates/assignments/assigned-template.ts';
import { requestedTemplate } from '../lib/templates/assignments/assignment-request.ts';
import { deployedListing } from '../lib/templates/deployed/listing.ts';
import { deployedRows } from '../lib/templates/deployed/rows.ts';
import { listedTemplate } from '../lib/templates/listing/listed-template.ts';
import { TemplateSchema } from '../lib/templates/listing/view.ts';
import type { RowStore } from '../lib/templates/model/row-store.ts';
import type { TemplateStore } from '../lib/templates/model/template-store.ts';
import { switchedOffReason } from '../lib/templates/status/switched-off.ts';

export const TemplatesGetAnswer = v.object({ ...TemplateSchema.entries, ...NeededAtSendSchema.entries });

/** GET /v1/templates/{messageTemplateId}: shows one template as listed, with the needs of its sends (D49). */
export function templatesGet(ports: {
  readonly directory: Directory;
  readonly rows: RowStore;
  readonly templates: Pick<TemplateStore, 'factsOf'>;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(ports, noBody, async (event) => {
    const { caller } = event;

    const asked = await requestedTemplate(ports.directory, caller, event);
    const seen = await seenTemplate(ports.directory, caller, templateOfClient(ports, asked));

    const { view, template } = await listedTemplate(ports, seen);
    const { id, active, channel_campaigns: groups } = view;
    const switchedOff = active ? undefined : switchedOffReason({ id, assigned: groups.length > 0 });
    const needed = neededAtSend(template, switchedOff);

    return answer(200, shaped(TemplatesGetAnswer, { ...view, ...needed }));
  });
}

export const handler = deployed(() =>
  templatesGet({ ...deployedAccess(), rows: deployedRows(), templates: deployedListing() }),
);
