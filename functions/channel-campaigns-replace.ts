import { callerOf } from '../lib/access/caller.ts';
import type { Directory } from '../lib/access/directory.ts';
import { directoryStore } from '../lib/access/directory-store.ts';
import { askedClientId, operatingClient } from '../lib/access/operating-client.ts';
import { replacePairs } from '../lib/assignments/pairs.ts';
import { ChannelCampaignsBody, ChannelCampaignsQuery, pairFaults, refuseFaults } from '../lib/assignments/request.ts';
import { type AssignmentStore, assignmentStore } from '../lib/assignments/store.ts';
import { templateOfClient } from '../lib/assignments/template.ts';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { answer } from '../lib/http/answer.ts';
import { type Endpoint, endpoint } from '../lib/http/endpoint.ts';
import { parse } from '../lib/http/parse.ts';
import { templateNotFound } from '../lib/templates/document.ts';
import { type RowStore, rowStore } from '../lib/templates/row-store.ts';

/** PUT /v1/templates/{messageTemplateId}/channel-campaigns: makes the operating client's assignments the given ones (D14). */
export function channelCampaignsReplace(deps: {
  readonly directory: Directory;
  readonly rows: RowStore;
  readonly assignments: AssignmentStore;
  readonly nowMs: () => number;
}): Endpoint {
  return endpoint(
    async (event) => {
      const caller = callerOf(event, deps.nowMs());

      const { client_id, channel_campaigns: pairs } = parse(ChannelCampaignsBody, event.body);
      const query = parse(ChannelCampaignsQuery, event.queryStringParameters ?? {});
      const messageTemplateId = event.pathParameters?.['messageTemplateId'];

      const clientId = operatingClient(caller, askedClientId({ query: query.client_id, body: client_id }));

      const [template, faults] = await Promise.all([
        templateOfClient(deps, { messageTemplateId, clientId }),
        pairFaults(deps.directory, clientId, pairs),
      ]);
      refuseFaults(faults);

      const assigned = await deps.assignments.update(template, (row) => replacePairs(row, pairs));
      if (assigned === undefined) throw templateNotFound();

      return answer(200, { ids: null, success: true });
    },
    { body: 'json-or-none' },
  );
}

const store = documentClient();
export const handler = channelCampaignsReplace({
  directory: directoryStore(store, environmentVariable('DIRECTORY_TABLE')),
  rows: rowStore(store, environmentVariable('TEMPLATES_TABLE')),
  assignments: assignmentStore(store, environmentVariable('TEMPLATES_TABLE')),
  nowMs: Date.now,
});
