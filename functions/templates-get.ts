import * as v from 'valibot';
import { campaignScope } from '../lib/access/campaign-scope.ts';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { clientEndpoint, type Directory } from '../lib/access/page.ts';
import { answer, type Endpoint, noBody, shaped } from '../lib/http/page.ts';
import { NeededAtSendSchema, neededAtSend } from '../lib/messages/request/needed-at-send.ts';
import { templateOfClient } from '../lib/templates/assignments/assigned-template.ts';
import { askedTemplate } from '../lib/templates/assignments/assignment-request.ts';
import { deployedListing, deployedRows } from '../lib/templates/deployed.ts';
import { listedTemplate } from '../lib/templates/listing/listed-template.ts';
import { TemplateSchema } from '../lib/templates/listing/view.ts';
import type { RowStore } from '../lib/templates/model/row-store.ts';
import type { TemplateStore } from '../lib/templates/model/template-store.ts';
import { switchedOff } from '../lib/templates/status/switched-off.ts';

export const TemplatesGetAnswer = v.object({ ...TemplateSchema.entries, ...NeededAtSendSchema.entries });

/** GET /v1/templates/{messageTemplateId}: one template as it is listed, and what sending it takes (D49). */
export function templatesGet(ports: {
  readonly directory: Directory;
  readonly rows: RowStore;
  readonly templates: Pick<TemplateStore, 'factsOf'>;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(ports, noBody, async (event) => {
    const { caller } = event;

    const row = await templateOfClient(ports, await askedTemplate(ports.directory, caller, event));

    const [{ view, template }, off] = await Promise.all([
      listedTemplate(ports, row, campaignScope(ports.directory, caller)),
      switchedOff(ports.directory, row),
    ]);

    return answer(
      200,
      shaped(TemplatesGetAnswer, { ...view, ...neededAtSend(template, { ...row, switchedOff: off }) }),
    );
  });
}

export const handler = deployed(() =>
  templatesGet({ ...deployedAccess(), rows: deployedRows(), templates: deployedListing() }),
);
