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
import { groupedAssignments } from '../lib/templates/assignments/grouped.ts';
import { type RowStore, rowStore } from '../lib/templates/model/row-store.ts';

/** GET /v1/templates/{messageTemplateId}/channel-campaigns-grouped: the operating client's assignments of a template. */
export function channelCampaignsGrouped(deps: {
  readonly directory: Directory;
  readonly rows: RowStore;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(deps, noBody, async (event) => {
    const { caller } = event;

    const template = await templateOfClient(deps, await askedTemplate(deps.directory, caller, event));

    return answer(200, await groupedAssignments(deps.directory, template));
  });
}

const store = documentClient();
export const handler = channelCampaignsGrouped({
  directory: directoryStore(store, environmentVariable('DIRECTORY_TABLE')),
  rows: rowStore(store, environmentVariable('TEMPLATES_TABLE')),
  nowMs: Date.now,
});
