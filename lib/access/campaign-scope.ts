import { Refusal } from '../http/refusal.ts';
import type { Caller } from './caller.ts';
import type { Directory } from './directory.ts';

/** A caller sees these campaigns (D15); undefined means a caller with `BSP_CN`, who sees all. */
export type CampaignScope = ReadonlySet<number> | undefined;

export type ScopedCaller = Pick<Caller, 'clientId' | 'crossClient' | 'userId'>;

/** Reads the scope of a caller once, or not at all. */
export async function campaignScope(
  directory: Pick<Directory, 'findUser'>,
  caller: ScopedCaller,
): Promise<CampaignScope> {
  if (caller.crossClient) return undefined;
  const user = await directory.findUser(caller.clientId, caller.userId);
  return new Set(user?.campaignIds);
}

/**
 * Refuses with 400 a caller whose scope holds no campaign: templates are seen and changed through campaigns only (D15).
 */
export function refuseWithoutCampaigns(scope: CampaignScope): void {
  if (scope?.size === 0) throw new Refusal('agent_without_campaigns', 'agent without campaigns');
}

/** Refuses with 403 a campaign outside the caller's scope, whether it exists or not (D15). */
export function refuseOtherCampaign(campaignId: number, scope: CampaignScope): void {
  if (scope?.has(campaignId) !== false) return;
  const message = `campaign_id ${campaignId} is not among your campaigns`;
  throw new Refusal('campaign_forbidden', message, { errors: [{ path: 'campaign_id', message }] });
}
