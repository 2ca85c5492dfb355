import type { Pair } from '../../lib/templates/assignments/pairs.ts';
import type { PlatformTemplate } from '../../lib/templates/model/template.ts';
import { directoryFile, type TemplateData } from './template-tables.ts';

/** A query of the listing must find these templates, computed from the data. */
export interface Question {
  readonly query: Readonly<Record<string, string>>;
  readonly finds: (template: PlatformTemplate, pairs: readonly Pair[]) => boolean;
}

const [channel, otherChannel] = directoryFile.channels;
const [campaign] = directoryFile.campaigns;
if (channel === undefined || otherChannel === undefined || campaign === undefined) throw new Error('no channels');
const channelId = channel.channel_id;

const namesakes = new Set(
  directoryFile.campaigns
    .filter(({ client_id, name }) => client_id === campaign.client_id && name === campaign.name)
    .map(({ campaign_id }) => campaign_id),
);
const isGone = ({ status }: PlatformTemplate) => status === 'PENDING_DELETION';
const onChannel = (_: PlatformTemplate, pairs: readonly Pair[]) => pairs.some((pair) => pair.channelId === channelId);
const all = () => true;

/** The queries use every filter of the listing, and some together. Only one finds deleted templates. */
export const questions: readonly Question[] = [
  { query: {}, finds: all },
  { query: { state: 'PENDING' }, finds: ({ status }) => status === 'PENDING' },
  { query: { state: 'APPROVED,REJECTED' }, finds: ({ status }) => status === 'APPROVED' || status === 'REJECTED' },
  { query: { search: 'ORDER_' }, finds: ({ name }) => name.includes('order_') },
  { query: { search: '.*' }, finds: () => false },
  { query: { category: 'MARKETING,AUTHENTICATION' }, finds: ({ category }) => category !== 'UTILITY' },
  { query: { lang: 'es' }, finds: ({ language }) => language === 'es' },
  { query: { did: channel.did }, finds: onChannel },
  { query: { name: 'order_update_00000' }, finds: ({ name }) => name === 'order_update_00000' },
  { query: { template_platform_id: '1627019861000007' }, finds: ({ id }) => id === '1627019861000007' },
  { query: { active: 'true' }, finds: all },
  { query: { active: 'false' }, finds: () => false },
  { query: { deleted: 'true' }, finds: isGone },
  {
    query: { campaign_name: campaign.name },
    finds: (_, pairs) => pairs.some(({ campaignId }) => namesakes.has(campaignId)),
  },
  { query: { campaign_name: 'Unassigned' }, finds: (_, pairs) => pairs.length === 0 },
  { query: { channel_ids: String(channelId) }, finds: onChannel },
  {
    query: { channel_ids: `${channelId},${otherChannel.channel_id}`, quality_scores: 'RED,YELLOW', search: 'offer' },
    finds: ({ name, quality_score }, pairs) =>
      name.includes('offer') &&
      ['RED', 'YELLOW'].includes(quality_score?.score ?? '') &&
      pairs.some((pair) => pair.channelId === channelId || pair.channelId === otherChannel.channel_id),
  },
  { query: { quality_scores: 'GREEN' }, finds: ({ quality_score }) => quality_score?.score === 'GREEN' },
  { query: { fields: 'id' }, finds: all },
  { query: { fields: 'platform_template' }, finds: all },
  { query: { fields: 'id,channel_campaigns,unknown' }, finds: all },
];

/**
 * Returns how many templates the client finds. An agent with all campaigns sees unassigned templates only by that name
 * (D15); a caller with `BSP_CN` sees all.
 */
export function expectedTotal(
  { query, finds }: Question,
  { templates, assignments }: TemplateData,
  seesUnassigned: boolean,
): number {
  return templates.filter((template, index) => {
    const pairs = assignments[index] ?? [];
    const seen = seesUnassigned || pairs.length > 0 || query['campaign_name'] === 'Unassigned';
    return seen && isGone(template) === (query['deleted'] === 'true') && finds(template, pairs);
  }).length;
}
