import * as v from 'valibot';
import type { Directory } from '../access/directory.ts';
import { boundedList } from '../http/closed-object.ts';
import { type Fault, invalid, Refusal } from '../http/refusal.ts';
import type { TemplateRow } from '../templates/row.ts';
import type { Pair } from './pairs.ts';

/** Most pairs of one client on one template: its row stays far below what an item may hold, and cheap to list. */
export const maxPairs = 500;

const directoryId = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

const PairSchema = v.pipe(
  v.object({ channel_id: directoryId, campaign_id: directoryId }),
  v.transform((pair): Pair => ({ channelId: pair.channel_id, campaignId: pair.campaign_id })),
);

/** Body of POST and PUT channel-campaigns; `client_id` is checked by `askedClientId`. */
export const ChannelCampaignsBody = v.object({
  client_id: v.optional(v.unknown()),
  channel_campaigns: v.optional(boundedList(PairSchema, maxPairs), []),
});

export const ChannelCampaignsQuery = v.object({ client_id: v.optional(v.string()) });

/**
 * The channels and campaigns among the pairs that the client does not have, each with its path (D14). What belongs to
 * another client and what nobody has are told alike. At most two requests at a time for 100 channels.
 */
export async function pairFaults(
  directory: Pick<Directory, 'listCampaigns' | 'findChannels'>,
  clientId: number,
  pairs: readonly Pair[],
): Promise<Fault[]> {
  if (pairs.length === 0) return [];
  const [channels, campaigns] = await Promise.all([
    directory.findChannels(
      clientId,
      pairs.map(({ channelId }) => channelId),
    ),
    directory.listCampaigns(clientId),
  ]);
  const channelIds = new Set(channels.map(({ channelId }) => channelId));
  const campaignIds = new Set(campaigns.map(({ campaignId }) => campaignId));
  return pairs.flatMap(({ channelId, campaignId }, index) => {
    const path = `channel_campaigns[${index}]`;
    const faults: Fault[] = [];
    if (!channelIds.has(channelId)) {
      faults.push({ path: `${path}.channel_id`, message: `client ${clientId} has no channel ${channelId}` });
    }
    if (!campaignIds.has(campaignId)) {
      faults.push({ path: `${path}.campaign_id`, message: `client ${clientId} has no campaign ${campaignId}` });
    }
    return faults;
  });
}

/** Refuses with one 400 that lists the faults; the first is the message. */
export function refuseFaults(faults: readonly Fault[]): void {
  const [first] = faults;
  if (first !== undefined) throw new Refusal('invalid_request', first.message, { errors: faults.slice(0, 100) });
}

/** The row as it is; refuses with 400 when adding has brought it over `maxPairs`. */
export function withinLimit(row: TemplateRow): TemplateRow {
  if (row.documents.length <= maxPairs) return row;
  throw invalid('channel_campaigns', `a template takes at most ${maxPairs} channel-campaign pairs`);
}
