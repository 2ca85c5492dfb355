import * as v from 'valibot';
import type { Campaign, Channel } from '../../access/directory.ts';
import { wholeNumber } from '../../http/documented.ts';
import type { TemplateRow } from '../model/row.ts';
import { languageKey, type TemplateDocument } from '../model/template.ts';
import { type ViewBounds, visibleDocuments, visibleId } from '../model/visible-documents.ts';

/** This campaign name finds templates without assignment (contract, Channel-campaign group). */
const unassignedCampaignName = 'Unassigned';

/**
 * An absent filter passes all. A list matches any of its values as a whole, in any letter case, languages in any
 * spelling that a send takes (D16).
 */
export interface TemplateFilters {
  readonly states?: readonly string[] | undefined;
  readonly categories?: readonly string[] | undefined;
  readonly languages?: readonly string[] | undefined;
  readonly qualityScores?: readonly string[] | undefined;
  /** The text is a part of the name in any letter case, never a pattern (D8). */
  readonly search?: string | undefined;
  readonly name?: string | undefined;
  readonly platformId?: string | undefined;
  readonly active?: boolean | undefined;
  /** True selects only deleted ones; otherwise none of them passes. */
  readonly deleted?: boolean | undefined;
  readonly documents: DocumentFilters;
}

/** One document must satisfy all given filters. */
export interface DocumentFilters {
  /** Ids are text, so that a value that is no number matches nothing. */
  readonly channelIds?: readonly string[] | undefined;
  /** The DID filter gives it, null when the client has no such DID. */
  readonly didChannelId?: number | null | undefined;
  /** `unassigned` says whether the placeholder has that name. */
  readonly campaign?: { readonly ids: ReadonlySet<number>; readonly unassigned: boolean } | undefined;
}

export interface ListedTemplate {
  readonly row: TemplateRow;
  readonly id: string;
  readonly documents: readonly TemplateDocument[];
}

/**
 * Returns the templates that pass the filters within the bounds, ordered by name, language and id (D8). Direct-message
 * templates never pass (contract, Template).
 */
export function selectTemplates(
  rows: readonly TemplateRow[],
  filters: TemplateFilters,
  bounds: ViewBounds,
): ListedTemplate[] {
  const rowPasses = rowFilter(filters);
  // A caller with a campaign scope sees unassigned templates only on request (D15).
  const unassignedToo = bounds.scope === undefined || filters.documents.campaign?.unassigned === true;
  const showsUnassigned = ({ pair }: TemplateDocument) => pair !== undefined || unassignedToo;
  const selected: ListedTemplate[] = [];
  for (const row of rows) {
    if (!rowPasses(row)) continue;
    const documents = visibleDocuments(row.documents, bounds).filter(showsUnassigned);
    if (!documents.some((document) => documentPasses(document, filters.documents))) continue;
    selected.push({ row, documents, id: visibleId(row, bounds) });
  }
  return selected.sort(
    (a, b) =>
      compareText(a.row.name, b.row.name) || compareText(a.row.language, b.row.language) || compareText(a.id, b.id),
  );
}

/** Returns the campaigns of a name, which need not be unique. The placeholder's name also finds the placeholder. */
export function campaignsNamed(
  name: string,
  campaigns: readonly Campaign[],
): { readonly ids: ReadonlySet<number>; readonly unassigned: boolean } {
  return {
    ids: new Set(campaigns.filter((campaign) => campaign.name === name).map((campaign) => campaign.campaignId)),
    unassigned: name === unassignedCampaignName,
  };
}

export const ChannelViewSchema = v.object({
  channel_id: wholeNumber,
  name: v.optional(v.string()),
  did: v.string(),
  type: v.literal('MESSAGING'),
});
export type ChannelView = v.InferOutput<typeof ChannelViewSchema>;

export const ChannelCampaignGroupSchema = v.object({
  campaign_id: wholeNumber,
  campaign_name: v.string(),
  channels: v.array(ChannelViewSchema),
});
export type ChannelCampaignGroup = v.InferOutput<typeof ChannelCampaignGroupSchema>;

/**
 * Groups and channels ascend by id. The placeholder is no group, so a template without assignment has none. Campaigns
 * and channels that no longer exist are left out.
 */
export function groupDocuments(
  documents: readonly TemplateDocument[],
  campaigns: readonly Campaign[],
  channels: readonly Channel[],
): ChannelCampaignGroup[] {
  return campaigns
    .map((campaign) => {
      const channelIds = new Set(
        documents.filter(({ pair }) => pair?.campaignId === campaign.campaignId).map(({ pair }) => pair?.channelId),
      );
      return {
        campaign_id: campaign.campaignId,
        campaign_name: campaign.name,
        channels: channels
          .filter((channel) => channelIds.has(channel.channelId))
          .sort((a, b) => a.channelId - b.channelId)
          .map(channelView),
      };
    })
    .filter((group) => group.channels.length > 0)
    .sort((a, b) => a.campaign_id - b.campaign_id);
}

export function channelIdsOf(documents: readonly TemplateDocument[]): number[] {
  return [...new Set(documents.flatMap(({ pair }) => (pair === undefined ? [] : [pair.channelId])))];
}

function rowFilter(filters: TemplateFilters): (row: TemplateRow) => boolean {
  const among = (values: readonly string[] | undefined, keyOf = (value: string) => value.toLowerCase()) => {
    const set = values === undefined ? undefined : new Set(values.map(keyOf));
    return (value: string | undefined) => set === undefined || (value !== undefined && set.has(keyOf(value)));
  };
  const state = among(filters.states);
  const category = among(filters.categories);
  const language = among(filters.languages, languageKey);
  const quality = among(filters.qualityScores);
  const search = filters.search?.toLowerCase();
  return (row) =>
    !row.isDirectMessage &&
    row.deleted === (filters.deleted === true) &&
    (filters.active === undefined || row.active === filters.active) &&
    (filters.name === undefined || row.name === filters.name) &&
    (filters.platformId === undefined || row.platformId === filters.platformId) &&
    (search === undefined || row.name.toLowerCase().includes(search)) &&
    state(row.status) &&
    category(row.category) &&
    language(row.language) &&
    quality(row.qualityScore);
}

function documentPasses({ pair }: TemplateDocument, filters: DocumentFilters): boolean {
  const { channelIds, didChannelId, campaign } = filters;
  return (
    (channelIds === undefined || (pair !== undefined && channelIds.includes(String(pair.channelId)))) &&
    (didChannelId === undefined || pair?.channelId === (didChannelId ?? Number.NaN)) &&
    (campaign === undefined || (pair === undefined ? campaign.unassigned : campaign.ids.has(pair.campaignId)))
  );
}

function channelView(channel: Channel): ChannelView {
  return {
    channel_id: channel.channelId,
    ...(channel.name === '' ? {} : { name: channel.name }),
    did: channel.did,
    type: 'MESSAGING',
  };
}

/** Compares by code unit, not by locale: the same on every machine. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
