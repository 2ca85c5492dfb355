import { campaignScope, type ScopedCaller } from '../../access/campaign-scope.ts';
import type { Directory } from '../../access/directory.ts';
import { validPairs } from '../listing/listing-page.ts';
import type { ClientTemplate } from '../model/template.ts';
import { visibleId } from '../model/visible-documents.ts';

/** A client's assignments and its user's campaigns need these reads of the directory. */
export type AssignableDirectory = Pick<Directory, 'listCampaigns' | 'listChannels' | 'findUser'>;

/** Says why a switched-off template is not sent, with each step to switch it on (D23). */
export function switchedOffReason({ id, assigned }: { readonly id: string; readonly assigned: boolean }): string {
  const assign = `assign it to a channel and a campaign of the client (POST /v1/templates/${id}/channel-campaigns), then `;
  const enable = `enable it (PATCH /v1/templates/status with {"action":"enable","templates":["${id}"]})`;
  return `the template is switched off for this client; to send it, ${assigned ? '' : assign}${enable}`;
}

/**
 * Returns undefined for a template that is on. Makes one round trip, or none. It names an `_id` that the caller may
 * switch, never one of a foreign campaign (D17).
 */
export async function switchedOff(
  directory: AssignableDirectory,
  caller: ScopedCaller,
  { clientId, active, documents }: Pick<ClientTemplate, 'clientId' | 'active' | 'documents'>,
): Promise<string | undefined> {
  if (active) return undefined;
  const [campaigns, channels, scope] = await Promise.all([
    directory.listCampaigns(clientId),
    directory.listChannels(clientId),
    campaignScope(directory, caller),
  ]);
  const stands = validPairs(channels, campaigns);
  const assigned = documents.some(({ pair }) => pair !== undefined && stands(pair));
  const id = visibleId({ documents }, { scope, stands }) || documents[0]?.id;
  return switchedOffReason({ id: id ?? '', assigned });
}
