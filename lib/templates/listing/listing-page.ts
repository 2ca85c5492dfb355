import type { Caller } from '../../access/caller.ts';
import { type CampaignScope, campaignScope, refuseWithoutCampaigns } from '../../access/campaign-scope.ts';
import type { Campaign, Channel, Directory, Waba } from '../../access/directory.ts';
import { operatingClient } from '../../access/operating-client.ts';
import { type Page, sliceOf } from '../../http/query.ts';
import { Refusal } from '../../http/refusal.ts';
import type { IsValidPair } from '../model/document.ts';
import type { TemplateRow } from '../model/row.ts';
import type { StoredFact } from '../model/template.ts';
import type { TemplateStore } from '../model/template-store.ts';
import {
  campaignsNamed,
  groupDocuments,
  type ListedTemplate,
  selectTemplates,
  type TemplateFilters,
} from './listing.ts';
import { platformTemplateView, requestedFields, type TemplateView, templateView } from './view.ts';

export interface ListingAccess {
  readonly clientId: number;
  readonly scope: CampaignScope;
}

/**
 * Returns the caller's access (D4, D15). With `BSP_CN` any client must be named (400 `client_id is required`); without,
 * it is the own client (403), within the user's campaigns; a user without campaigns is refused with 400.
 */
export async function listingAccess(
  directory: Pick<Directory, 'findUser' | 'hasClient'>,
  caller: Caller,
  askedId: number | undefined,
): Promise<ListingAccess> {
  if (caller.crossClient) {
    if (askedId === undefined) throw new Refusal('client_id_required', 'client_id is required');
    return { clientId: await operatingClient(directory, caller, askedId), scope: undefined };
  }
  const clientId = await operatingClient(directory, caller, askedId);
  const scope = await campaignScope(directory, caller);
  refuseWithoutCampaigns(scope);
  return { clientId, scope };
}

/** The query has the contract's names, without paging and client. */
export interface TemplatesQuery {
  readonly state?: string[] | undefined;
  readonly search?: string | undefined;
  readonly category?: string[] | undefined;
  readonly lang?: string[] | undefined;
  readonly did?: string | undefined;
  readonly name?: string | undefined;
  readonly template_platform_id?: string | undefined;
  readonly active?: boolean | undefined;
  readonly deleted?: boolean | undefined;
  readonly campaign_name?: string | undefined;
  readonly fields?: string[] | undefined;
  readonly channel_ids?: string[] | undefined;
  readonly quality_scores?: string[] | undefined;
}

/**
 * Returns one page of a client's templates and the exact total (contract, GET /v1/templates) in two round trips: rows,
 * campaigns, channels and WABAs side by side, then the page's bodies.
 */
export async function listTemplates(
  stores: { readonly directory: Directory; readonly templates: Pick<TemplateStore, 'rowsOf' | 'factsOf'> },
  { clientId, scope }: ListingAccess,
  query: TemplatesQuery,
  page: Page,
): Promise<{ readonly data: Partial<TemplateView>[]; readonly total: number }> {
  const { directory, templates } = stores;
  const [rows, campaigns, channels, wabas] = await Promise.all([
    templates.rowsOf(clientId),
    directory.listCampaigns(clientId),
    directory.listChannels(clientId),
    directory.listWabas(clientId),
  ]);
  const current = rowsOfWabas(rows, wabas);
  const filters = filtersOf(query, { campaigns, channels });
  const selected = selectTemplates(current, filters, { scope, stands: validPairs(channels, campaigns) });
  const listed = sliceOf(selected, page);
  const wanted = requestedFields(query.fields);
  const facts = wanted.has('platform_template')
    ? await templates.factsOf(listed.map(({ row }) => row))
    : new Map<string, StoredFact>();
  const view = (template: ListedTemplate) =>
    templateView(viewOf(template, { facts, campaigns, channels, wabas }), wanted);
  return { data: listed.map(view), total: selected.length };
}

/** Rows of a WABA that the client has left stay stored for its return, but are not listed. */
function rowsOfWabas(rows: readonly TemplateRow[], wabas: readonly Waba[]): TemplateRow[] {
  const wabaIds = new Set(wabas.map(({ wabaId }) => wabaId));
  return rows.filter(({ wabaId }) => wabaIds.has(wabaId));
}

export function validPairs(channels: readonly Channel[], campaigns: readonly Campaign[]): IsValidPair {
  const channelIds = new Set(channels.map(({ channelId }) => channelId));
  const campaignIds = new Set(campaigns.map(({ campaignId }) => campaignId));
  return (pair) => channelIds.has(pair.channelId) && campaignIds.has(pair.campaignId);
}

function filtersOf(
  query: TemplatesQuery,
  { campaigns, channels }: { readonly campaigns: readonly Campaign[]; readonly channels: readonly Channel[] },
): TemplateFilters {
  const didChannelId = channels.find(({ did }) => did === query.did)?.channelId ?? null;
  return {
    states: query.state,
    categories: query.category,
    languages: query.lang,
    qualityScores: query.quality_scores,
    search: query.search,
    name: query.name,
    platformId: query.template_platform_id,
    active: query.active,
    deleted: query.deleted,
    documents: {
      channelIds: query.channel_ids,
      didChannelId: query.did === undefined ? undefined : didChannelId,
      campaign: query.campaign_name === undefined ? undefined : campaignsNamed(query.campaign_name, campaigns),
    },
  };
}

export function viewOf(
  { row, documents, id }: ListedTemplate,
  known: {
    readonly facts: ReadonlyMap<string, StoredFact>;
    readonly campaigns: readonly Campaign[];
    readonly channels: readonly Channel[];
    readonly wabas: readonly Waba[];
  },
): TemplateView {
  const fact = known.facts.get(row.templateKey);
  return {
    id,
    waba_id: row.wabaId,
    client_id: row.clientId,
    active: row.active,
    namespace: known.wabas.find((waba) => waba.wabaId === row.wabaId)?.namespace ?? '',
    platform_template: fact === undefined ? undefined : platformTemplateView(fact.template),
    channel_campaigns: groupDocuments(documents, known.campaigns, known.channels),
  };
}
