import * as v from 'valibot';
import type { Directory } from '../../access/directory.ts';
import { ChannelCampaignGroupSchema, ChannelViewSchema, channelIdsOf, groupDocuments } from '../listing/listing.ts';
import type { TemplateRow } from '../model/row.ts';

/** A group of the grouped GET: as in the listing, and each channel says its WABA (contract, Channel-campaign group). */
export const GroupWithWabasSchema = v.object({
  ...ChannelCampaignGroupSchema.entries,
  channels: v.array(v.object({ ...ChannelViewSchema.entries, waba_id: v.optional(v.string()) })),
});
export type GroupWithWabas = v.InferOutput<typeof GroupWithWabasSchema>;

/** The template's assignments as groups by campaign; none for the placeholder. */
export async function groupedAssignments(
  directory: Pick<Directory, 'listCampaigns' | 'findChannels'>,
  row: TemplateRow,
): Promise<GroupWithWabas[]> {
  const [campaigns, channels] = await Promise.all([
    directory.listCampaigns(row.clientId),
    directory.findChannels(row.clientId, channelIdsOf([{ row, documents: row.documents }])),
  ]);
  const wabaIds = new Map(channels.map(({ channelId, wabaId }) => [channelId, wabaId]));
  return groupDocuments(row.documents, campaigns, channels).map((group) => ({
    ...group,
    channels: group.channels.map((channel) => ({ ...channel, waba_id: wabaIds.get(channel.channel_id) })),
  }));
}
