import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { clientEndpoint, type Directory } from '../lib/access/page.ts';
import { alwaysNull, answer, bodyMaxBytes, type Endpoint, jsonBody, shaped } from '../lib/http/page.ts';
import { seenTemplate, templateForPairs } from '../lib/templates/assignments/assigned-template.ts';
import { requestedPairs, withinLimit } from '../lib/templates/assignments/assignment-request.ts';
import type { AssignmentStore } from '../lib/templates/assignments/assignment-store.ts';
import { replacePairs } from '../lib/templates/assignments/pairs.ts';
import { deployedAssignments } from '../lib/templates/deployed/assignments.ts';
import { templateNotFound } from '../lib/templates/model/document.ts';
import type { RowStore } from '../lib/templates/model/row-store.ts';

export const ChannelCampaignsReplaceAnswer = v.object({
  ids: alwaysNull(() => v.array(v.string())),
  success: v.literal(true),
});

/** PUT /v1/templates/{messageTemplateId}/channel-campaigns: replaces the assignments in the caller's scope (D14). */
export function channelCampaignsReplace(ports: {
  readonly directory: Directory;
  readonly rows: RowStore;
  readonly assignments: AssignmentStore;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(ports, jsonBody({ maxBytes: bodyMaxBytes.plain, optional: true }), async (event) => {
    const { caller } = event;

    const asked = await requestedPairs(ports.directory, caller, event);
    const { row: template, scope } = await seenTemplate(ports.directory, caller, templateForPairs(ports, asked));

    // A missing list changes nothing; only an empty one removes all.
    const { pairs } = asked;
    if (pairs !== undefined) {
      const assigned = await ports.assignments.update(template, (row) => withinLimit(replacePairs(row, pairs, scope)));
      if (assigned === undefined) throw templateNotFound();
    }

    return answer(200, shaped(ChannelCampaignsReplaceAnswer, { ids: null, success: true }));
  });
}

export const handler = deployed(() => channelCampaignsReplace({ ...deployedAccess(), ...deployedAssignments() }));
