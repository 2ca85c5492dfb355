import * as v from 'valibot';
import type { Caller } from '../../access/caller.ts';
import type { Directory } from '../../access/directory.ts';
import {
  ClientIdJson,
  ClientIdText,
  type Clients,
  clientIdAdvice,
  operatingClient,
  requestedClientId,
} from '../../access/operating-client.ts';
import { boundedList, closedObject, plainObject, unrecognizedField } from '../../http/closed-object.ts';
import type { HttpEvent } from '../../http/endpoint.ts';
import { clip, parse } from '../../http/parse.ts';
import { countTo } from '../../http/query.ts';
import { type Fault, invalid, refuseFaults } from '../../http/refusal.ts';
import type { TemplateRow } from '../model/row.ts';
import type { Pair } from './pairs.ts';

/** A client's pairs of one template are bounded, so that its row stays cheap to list. */
export const maxPairs = 500;

const maxListedFaults = 100;

const directoryId = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

export const PairSchema = v.pipe(
  closedObject({ channel_id: directoryId, campaign_id: directoryId }),
  v.transform(({ channel_id, campaign_id }): Pair => ({ channelId: channel_id, campaignId: campaign_id })),
);

export const ChannelCampaignsBody = closedObject({
  client_id: ClientIdJson,
  channel_campaigns: v.optional(boundedList(PairSchema, maxPairs)),
});

export const TemplatePath = v.object({ messageTemplateId: v.string() });
export const TemplateQuery = v.object({ client_id: ClientIdText });

/** The two ids together name one pair (D14). */
export const PairQuery = v.object({
  ...TemplateQuery.entries,
  channel_id: countTo('channel_id', Number.MAX_SAFE_INTEGER),
  campaign_id: countTo('campaign_id', Number.MAX_SAFE_INTEGER),
});

export interface NamedTemplate {
  readonly messageTemplateId: string;
  readonly clientId: number;
  /** The message of a 404 ends with the advice. */
  readonly advice: string;
}

/** Refuses as `operatingClient` (D4). `bodyClientId` is the body's `client_id`, if the route has a body. */
export async function requestedTemplate(
  clients: Clients,
  caller: Caller,
  event: HttpEvent,
  bodyClientId?: unknown,
): Promise<NamedTemplate> {
  const query = parse(TemplateQuery, event.queryStringParameters ?? {});
  const askedId = requestedClientId({ query: query.client_id, body: bodyClientId });
  const clientId = await operatingClient(clients, caller, askedId);
  const advice = clientIdAdvice(caller, askedId);
  const { messageTemplateId } = parse(TemplatePath, event.pathParameters);
  return { messageTemplateId, clientId, advice };
}

export interface NamedPairs extends NamedTemplate {
  /** The list is absent when the body has none, which differs from an empty one (D14). */
  readonly pairs?: readonly Pair[] | undefined;
}

export async function requestedPairs(clients: Clients, caller: Caller, event: HttpEvent): Promise<NamedPairs> {
  const { client_id, channel_campaigns: pairs } = parse(ChannelCampaignsBody, event.body);
  return { ...(await requestedTemplate(clients, caller, event, client_id)), pairs };
}

const howToRemove =
  'channel_id and campaign_id together in the query name one assignment to remove, without both all go';

/** Returns the pair that the query of a DELETE names, or undefined. Refuses with 400 half a pair (D14). */
export function requestedPair(event: HttpEvent): Pair | undefined {
  const { channel_id: channelId, campaign_id: campaignId } = parse(PairQuery, event.queryStringParameters ?? {});
  if (channelId !== undefined && campaignId !== undefined) return { channelId, campaignId };
  if (channelId === undefined && campaignId === undefined) return undefined;
  const missing = channelId === undefined ? 'channel_id' : 'campaign_id';
  throw invalid(missing, `${missing} is required: ${howToRemove}`);
}

/** Refuses with 400 a DELETE with a body: an ignored pair in it would remove all (D14). */
export function refuseBody({ body }: HttpEvent): void {
  const faults = Object.keys(parse(plainObject, body)).map((name): Fault => {
    const path = clip(name);
    return { path, message: `${unrecognizedField}: ${path}; ${howToRemove}` };
  });
  refuseFaults(faults.slice(0, maxListedFaults));
}

/** Returns the faults of pairs on a template's WABA, each with its path. */
export type PairsCheck = (wabaId: string) => Fault[];

/**
 * Reads the pairs before the template's WABA is known (D14). Unknown or foreign channels and campaigns (told alike) and
 * another WABA's channels are faults, the first 100 listed; 100 channels take two concurrent requests.
 */
export async function pairsCheck(
  directory: Pick<Directory, 'listCampaigns' | 'findChannels'>,
  clientId: number,
  pairs: readonly Pair[],
): Promise<PairsCheck> {
  if (pairs.length === 0) return () => [];
  const [channels, campaigns] = await Promise.all([
    directory.findChannels(
      clientId,
      pairs.map(({ channelId }) => channelId),
    ),
    directory.listCampaigns(clientId),
  ]);
  const wabaIds = new Map(channels.map(({ channelId, wabaId }) => [channelId, wabaId]));
  const campaignIds = new Set(campaigns.map(({ campaignId }) => campaignId));
  const channelFault = (channelId: number, templateWabaId: string): string | undefined => {
    const wabaId = wabaIds.get(channelId);
    if (wabaId === undefined) return `client ${clientId} has no channel ${channelId}`;
    if (wabaId === templateWabaId) return undefined;
    return `channel ${channelId} is on WABA ${wabaId}, the template on WABA ${templateWabaId}`;
  };
  return (templateWabaId) => {
    const faults = pairs.flatMap(({ channelId, campaignId }, index) => {
      const path = `channel_campaigns[${index}]`;
      const found: Fault[] = [];
      const message = channelFault(channelId, templateWabaId);
      if (message !== undefined) found.push({ path: `${path}.channel_id`, message });
      if (!campaignIds.has(campaignId)) {
        found.push({ path: `${path}.campaign_id`, message: `client ${clientId} has no campaign ${campaignId}` });
      }
      return found;
    });
    return faults.slice(0, maxListedFaults);
  };
}

export async function pairFaults(
  directory: Pick<Directory, 'listCampaigns' | 'findChannels'>,
  { clientId, wabaId }: { readonly clientId: number; readonly wabaId: string },
  pairs: readonly Pair[],
): Promise<Fault[]> {
  const faultsOn = await pairsCheck(directory, clientId, pairs);
  return faultsOn(wabaId);
}

export function withinLimit(row: TemplateRow): TemplateRow {
  if (row.documents.length <= maxPairs) return row;
  throw invalid('channel_campaigns', `a template takes at most ${maxPairs} channel-campaign pairs`);
}
