import * as v from 'valibot';
import { campaignScope } from '../lib/access/campaign-scope.ts';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { askedClientId, ClientIdText, clientEndpoint, type Directory, operatingClient } from '../lib/access/page.ts';
import { answer, type Endpoint, noBody, parse, shaped, wholeNumber } from '../lib/http/page.ts';

export const CampaignsListQuery = v.object({ client_id: ClientIdText });

export const CampaignsListAnswer = v.object({
  data: v.array(v.object({ id: wholeNumber, name: v.string() })),
  total: wholeNumber,
});

/** GET /v1/campaigns: lists the operating client's campaigns by id, without `BSP_CN` only the user's (D50). */
export function campaignsList(ports: {
  readonly directory: Pick<Directory, 'hasClient' | 'findUser' | 'listCampaigns'>;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(ports, noBody, async (event) => {
    const { caller } = event;

    const query = parse(CampaignsListQuery, event.queryStringParameters ?? {});
    const askedId = askedClientId({ query: query.client_id });

    const clientId = await operatingClient(ports.directory, caller, askedId);

    const [campaigns, scope] = await Promise.all([
      ports.directory.listCampaigns(clientId),
      campaignScope(ports.directory, caller),
    ]);

    const data = campaigns
      .filter(({ campaignId }) => scope?.has(campaignId) !== false)
      .map(({ campaignId, name }) => ({ id: campaignId, name }));
    return answer(200, shaped(CampaignsListAnswer, { data, total: data.length }));
  });
}

export const handler = deployed(() => campaignsList(deployedAccess()));
