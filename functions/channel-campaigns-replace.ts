import { clientEndpoint } from '../lib/access/client-endpoint.ts';
import type { Directory } from '../lib/access/directory.ts';
import { directoryStore } from '../lib/access/directory-store.ts';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { answer } from '../lib/http/answer.ts';
import { bodyMaxBytes } from '../lib/http/body.ts';
import type { Endpoint } from '../lib/http/endpoint.ts';
import { jsonBody } from '../lib/http/json-body.ts';
import { templateForPairs } from '../lib/templates/assignments/assigned-template.ts';
import { askedPairs } from '../lib/templates/assignments/assignment-request.ts';
import { type AssignmentStore, assignmentStore } from '../lib/templates/assignments/assignment-store.ts';
import { replacePairs } from '../lib/templates/assignments/pairs.ts';
import { templateNotFound } from '../lib/templates/model/document.ts';
import { type RowStore, rowStore } from '../lib/templates/model/row-store.ts';

/** PUT /v1/templates/{messageTemplateId}/channel-campaigns: makes the operating client's assignments the given ones (D14). */
export function channelCampaignsReplace(deps: {
  readonly directory: Directory;
  readonly rows: RowStore;
  readonly assignments: AssignmentStore;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(deps, jsonBody({ maxBytes: bodyMaxBytes.plain, optional: true }), async (event) => {
    const { caller } = event;

    const asked = await askedPairs(deps.directory, caller, event);
    const template = await templateForPairs(deps, asked);

    // Without the list nothing is asked to change: only an empty one removes all.
    const { pairs } = asked;
    if (pairs !== undefined) {
      const assigned = await deps.assignments.update(template, (row) => replacePairs(row, pairs));
      if (assigned === undefined) throw templateNotFound();
    }

    return answer(200, { ids: null, success: true });
  });
}

const store = documentClient();
export const handler = channelCampaignsReplace({
  directory: directoryStore(store, environmentVariable('DIRECTORY_TABLE')),
  rows: rowStore(store, environmentVariable('TEMPLATES_TABLE')),
  assignments: assignmentStore(store, environmentVariable('TEMPLATES_TABLE')),
  nowMs: Date.now,
});
