import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { clientEndpoint, type Directory } from '../lib/access/page.ts';
import { alwaysNull, answer, bodyMaxBytes, type Endpoint, jsonBody, shaped } from '../lib/http/page.ts';
import {
  refuseForeignCampaign,
  seenTemplate,
  templateOfClient,
} from '../lib/templates/assignments/assigned-template.ts';
import {
  PairQuery,
  refuseBody,
  requestedPair,
  requestedTemplate,
} from '../lib/templates/assignments/assignment-request.ts';
import type { AssignmentStore } from '../lib/templates/assignments/assignment-store.ts';
import { removePair, removePairs } from '../lib/templates/assignments/pairs.ts';
import { deployedAssignments } from '../lib/templates/deployed/assignments.ts';
import { templateNotFound } from '../lib/templates/model/document.ts';
import type { TemplateRow } from '../lib/templates/model/row.ts';
import type { RowStore } from '../lib/templates/model/row-store.ts';

export const ChannelCampaignsRemoveAnswer = v.object({
  ids: alwaysNull(() => v.array(v.string())),
  success: v.literal(true),
});

/**
 * DELETE /v1/templates/{messageTemplateId}/channel-campaigns: removes the assignments in the caller's scope, or the one
 * in the query (D14).
 */
export function channelCampaignsRemove(ports: {
  readonly directory: Directory;
  readonly rows: RowStore;
  readonly assignments: AssignmentStore;
  readonly nowMs: () => number;
}): Endpoint {
  const body = jsonBody({ maxBytes: bodyMaxBytes.plain, optional: true });
  return clientEndpoint(ports, { body, query: PairQuery }, async (event) => {
    const { caller } = event;

    refuseBody(event);
    const pair = requestedPair(event);
    const asked = await requestedTemplate(ports.directory, caller, event);
    const { row: template, scope } = await seenTemplate(ports.directory, caller, templateOfClient(ports, asked));
    refuseForeignCampaign(pair, scope);

    const change = (row: TemplateRow) => (pair === undefined ? removePairs(row, scope) : removePair(row, pair));
    const assigned = await ports.assignments.update(template, change);
    if (assigned === undefined) throw templateNotFound();

    return answer(200, shaped(ChannelCampaignsRemoveAnswer, { ids: null, success: true }));
  });
}

export const handler = deployed(() => channelCampaignsRemove({ ...deployedAccess(), ...deployedAssignments() }));
