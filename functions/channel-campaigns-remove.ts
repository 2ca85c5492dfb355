import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { clientEndpoint, type Directory } from '../lib/access/page.ts';
import { alwaysNull, answer, type Endpoint, noBody, shaped } from '../lib/http/page.ts';
import { templateOfClient } from '../lib/templates/assignments/assigned-template.ts';
import { askedTemplate } from '../lib/templates/assignments/assignment-request.ts';
import type { AssignmentStore } from '../lib/templates/assignments/assignment-store.ts';
import { removePairs } from '../lib/templates/assignments/pairs.ts';
import { deployedAssignments } from '../lib/templates/deployed.ts';
import { templateNotFound } from '../lib/templates/model/document.ts';
import type { RowStore } from '../lib/templates/model/row-store.ts';

export const ChannelCampaignsRemoveAnswer = v.object({
  ids: alwaysNull(() => v.array(v.string())),
  success: v.literal(true),
});

/** DELETE /v1/templates/{messageTemplateId}/channel-campaigns: removes all assignments of the operating client (D14). */
export function channelCampaignsRemove(ports: {
  readonly directory: Directory;
  readonly rows: RowStore;
  readonly assignments: AssignmentStore;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(ports, noBody, async (event) => {
    const { caller } = event;

    const template = await templateOfClient(ports, await askedTemplate(ports.directory, caller, event));

    const assigned = await ports.assignments.update(template, removePairs);
    if (assigned === undefined) throw templateNotFound();

    return answer(200, shaped(ChannelCampaignsRemoveAnswer, { ids: null, success: true }));
  });
}

export const handler = deployed(() => channelCampaignsRemove({ ...deployedAccess(), ...deployedAssignments() }));
