import * as v from 'valibot';
import type { Directory } from '../../access/directory.ts';
import { ChannelCampaignGroupSchema, ChannelViewSchema, channelIdsOf, groupDocuments } from '../listing/listing.ts';
import { validPairs } from '../listing/listing-page.ts';
import { templateNotFound } from '../model/document.ts';
import { type SeenTemplate, visibleDocuments } from '../model/visible-documents.ts';

/** A group is as in the listing, with the WABA of each channel (contract, Channel-campaign group). */
export const GroupWithWabasSchema = v.object({
  ...ChannelCampaignGroupSchema.entries,
  channels: v.array(v.object({ ...ChannelViewSchema.entries, waba_id: v.optional(v.string()) })),
});
export type GroupWithWabas = v.InferOutput<typeof GroupWithWabasSchema>;

/**
 * Returns the assignments in the caller's campaigns; the placeholder has none. Refuses with 404 a template that has
 * only other campaigns (D15).
 */
export async function groupedAssignments(
  directory: Pick<Directory, 'listCampaigns' | 'findChannels'>,
  { row, scope }: SeenTemplate,
): Promise<GroupWithWabas[]> {
  const [campaigns, channels] = await Promise.all([
    directory.listCampaigns(row.clientId),
    directory.findChannels(row.clientId, channelIdsOf(row.documents)),
  ]);
  const wabaIds = new Map(channels.map(({ channelId, wabaId }) => [channelId, wabaId]));
  const documents = visibleDocuments(row.documents, { scope, stands: validPairs(channels, campaigns) });
  if (documents.length === 0) throw templateNotFound();
  return groupDocuments(documents, campaigns, channels).map((group) => ({
    ...group,
    channels: group.channels.map((channel) => ({ ...channel, waba_id: wabaIds.get(channel.channel_id) })),
  }));
}
