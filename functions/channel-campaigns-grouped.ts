import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { clientEndpoint, type Directory } from '../lib/access/page.ts';
import { answer, type Endpoint, noBody, shaped } from '../lib/http/page.ts';
import { seenTemplate, templateOfClient } from '../lib/templates/assignments/assigned-template.ts';
import { requestedTemplate } from '../lib/templates/assignments/assignment-request.ts';
import { GroupWithWabasSchema, groupedAssignments } from '../lib/templates/assignments/grouped.ts';
import { deployedRows } from '../lib/templates/deployed/rows.ts';
import type { RowStore } from '../lib/templates/model/row-store.ts';

export const ChannelCampaignsGroupedAnswer = v.array(GroupWithWabasSchema);

/**
 * GET /v1/templates/{messageTemplateId}/channel-campaigns-grouped: lists the assignments of a template in the caller's
 * scope (D15).
 */
export function channelCampaignsGrouped(ports: {
  readonly directory: Directory;
  readonly rows: RowStore;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(ports, noBody, async (event) => {
    const { caller } = event;

    const asked = await requestedTemplate(ports.directory, caller, event);
    const template = await seenTemplate(ports.directory, caller, templateOfClient(ports, asked));

    return answer(200, shaped(ChannelCampaignsGroupedAnswer, await groupedAssignments(ports.directory, template)));
  });
}

export const handler = deployed(() => channelCampaignsGrouped({ ...deployedAccess(), rows: deployedRows() }));
