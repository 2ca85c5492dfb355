import { clientEndpoint } from '../lib/access/client-endpoint.ts';
import type { Directory } from '../lib/access/directory.ts';
import { directoryStore } from '../lib/access/directory-store.ts';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { answer } from '../lib/http/answer.ts';
import { noBody } from '../lib/http/body.ts';
import type { Endpoint } from '../lib/http/endpoint.ts';
import { templateOfClient } from '../lib/templates/assignments/assigned-template.ts';
import { askedTemplate } from '../lib/templates/assignments/assignment-request.ts';
import { type AssignmentStore, assignmentStore } from '../lib/templates/assignments/assignment-store.ts';
import { removePairs } from '../lib/templates/assignments/pairs.ts';
import { templateNotFound } from '../lib/templates/model/document.ts';
import { type RowStore, rowStore } from '../lib/templates/model/row-store.ts';

/** DELETE /v1/templates/{messageTemplateId}/channel-campaigns: removes all assignments of the operating client (D14). */
export function channelCampaignsRemove(deps: {
  readonly directory: Directory;
  readonly rows: RowStore;
  readonly assignments: AssignmentStore;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(deps, noBody, async (event) => {
    const { caller } = event;

    const template = await templateOfClient(deps, await askedTemplate(deps.directory, caller, event));

    const assigned = await deps.assignments.update(template, removePairs);
    if (assigned === undefined) throw templateNotFound();

    return answer(200, { ids: null, success: true });
  });
}

const store = documentClient();
export const handler = channelCampaignsRemove({
  directory: directoryStore(store, environmentVariable('DIRECTORY_TABLE')),
  rows: rowStore(store, environmentVariable('TEMPLATES_TABLE')),
  assignments: assignmentStore(store, environmentVariable('TEMPLATES_TABLE')),
  nowMs: Date.now,
});
