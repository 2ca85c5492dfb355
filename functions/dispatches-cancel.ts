import * as v from 'valibot';
import { campaignScope, refuseOtherCampaign } from '../lib/access/campaign-scope.ts';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { askedClientId, ClientIdText, clientEndpoint, type Directory, operatingClient } from '../lib/access/page.ts';
import { type Audit, audited } from '../lib/audit/audit.ts';
import { deployedAudit } from '../lib/audit/deployed.ts';
import { documentedAs } from '../lib/http/documented.ts';
import { answer, type Endpoint, noBody, parse, shaped, wholeNumber } from '../lib/http/page.ts';
import { countTo } from '../lib/http/query.ts';
import { deployedCampaignCancellation } from '../lib/messages/deployed/reports.ts';
import { type CancelCampaignPorts, cancelCampaign } from '../lib/messages/find/cancel-campaign.ts';

export const DispatchesCancelQuery = v.object({
  client_id: ClientIdText,
  // The id is required, because a script's unset variable would cancel everything.
  campaign_id: v.pipe(
    v.string('campaign_id is required'),
    v.minLength(1, 'campaign_id is required'),
    countTo('campaign_id', Number.MAX_SAFE_INTEGER).wrapped,
    documentedAs(() => v.pipe(v.number(), v.integer(), v.minValue(1))),
  ),
});

export const DispatchesCancelAnswer = v.object({
  cancelled: v.pipe(wholeNumber, v.description('Dispatches that this request has cancelled.')),
  more: v.pipe(v.boolean(), v.description('Some were not looked at: repeat the request until it is false.')),
});

type Ports = CancelCampaignPorts & {
  readonly directory: Pick<Directory, 'hasClient' | 'findUser'>;
  readonly audit: Audit;
};

/** DELETE /v1/dispatches?campaign_id=: stops a campaign's sends, except messages under way (D59). */
export function dispatchesCancel(ports: Ports): Endpoint {
  return clientEndpoint(ports, { body: noBody, query: DispatchesCancelQuery }, async (event) => {
    const { caller } = event;

    const query = parse(DispatchesCancelQuery, event.queryStringParameters ?? {});
    const askedId = askedClientId({ query: query.client_id });
    const campaignId = query.campaign_id;

    const clientId = await operatingClient(ports.directory, caller, askedId);
    refuseOtherCampaign(campaignId, await campaignScope(ports.directory, caller));

    const cancelled = await audited(
      ports.audit,
      { caller, clientId, act: 'campaign.cancelled', on: { campaignId } },
      () => cancelCampaign(ports, { clientId, campaignId }),
      ({ cancelled: count }) => (count === 0 ? undefined : { count }),
    );
    return answer(200, shaped(DispatchesCancelAnswer, cancelled));
  });
}

export const handler = deployed(() =>
  dispatchesCancel({ ...deployedAccess(), ...deployedAudit(), ...deployedCampaignCancellation() }),
);
