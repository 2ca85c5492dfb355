import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { clientEndpoint, type Directory } from '../lib/access/page.ts';
import { answer, bodyMaxBytes, type Endpoint, jsonBody, shaped } from '../lib/http/page.ts';
import { templateForPairs } from '../lib/templates/assignments/assigned-template.ts';
import { requestedPairs, withinLimit } from '../lib/templates/assignments/assignment-request.ts';
import type { AssignmentStore } from '../lib/templates/assignments/assignment-store.ts';
import { addPairs, idsOfPairs } from '../lib/templates/assignments/pairs.ts';
import { deployedAssignments } from '../lib/templates/deployed/assignments.ts';
import { templateNotFound } from '../lib/templates/model/document.ts';
import type { RowStore } from '../lib/templates/model/row-store.ts';

export const ChannelCampaignsAddAnswer = v.object({ ids: v.array(v.string()), success: v.literal(true) });

/**
 * POST /v1/templates/{messageTemplateId}/channel-campaigns: assigns a template to more channels and campaigns (D14).
 */
export function channelCampaignsAdd(ports: {
  readonly directory: Directory;
  readonly rows: RowStore;
  readonly assignments: AssignmentStore;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(ports, jsonBody({ maxBytes: bodyMaxBytes.plain, optional: true }), async (event) => {
    const { caller } = event;

    const asked = await requestedPairs(ports.directory, caller, event);
    const template = await templateForPairs(ports, asked);

    const pairs = asked.pairs ?? [];
    const assigned = await ports.assignments.update(template, (row) => withinLimit(addPairs(row, pairs)));
    if (assigned === undefined) throw templateNotFound();

    return answer(201, shaped(ChannelCampaignsAddAnswer, { ids: idsOfPairs(assigned, pairs), success: true }));
  });
}

export const handler = deployed(() => channelCampaignsAdd({ ...deployedAccess(), ...deployedAssignments() }));
