import { expect } from 'vitest';
import type { Model, ModelDocument, StoredTemplate } from './model.ts';
import { type ClientId, campaignIds, campaignName, campaignOfUser, channels } from './setting.ts';

export type ListingQuery = Readonly<Record<string, string>>;

interface Entry {
  readonly template: StoredTemplate;
  /** The caller may see these documents. */
  readonly documents: readonly ModelDocument[];
  readonly view: Readonly<Record<string, unknown>>;
}

/**
 * Returns all results of a query in the order of the listing, by a naive implementation: every filter over every
 * template (R29).
 */
export function expectedListing(model: Model, clientId: ClientId, query: ListingQuery, asUser: boolean) {
  const scope = asUser ? campaignOfUser : undefined;
  return entriesOf(model, clientId, { scope, unassigned: query['campaign_name'] === 'Unassigned' })
    .filter((entry) => passes(entry, clientId, query))
    .map(({ view }) => view)
    .toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

/** Sorts by name, language, id (D8). No name in these tests is the beginning of another one. */
function orderOf({ id, platform_template }: Entry['view']): string {
  const { name, language } = platform_template as { readonly name: string; readonly language: string };
  return `${name} ${language} ${id}`;
}

function entriesOf(
  model: Model,
  clientId: ClientId,
  { scope, unassigned }: { readonly scope: number | undefined; readonly unassigned: boolean },
): Entry[] {
  return [...model.stored.values(), ...model.archived].flatMap((template) => {
    const kept = template.kept.get(clientId);
    if (kept === undefined) return [];
    const documents = kept.documents.filter(
      ({ pair }) => scope === undefined || (pair === undefined ? unassigned : pair.campaignId === scope),
    );
    const { wabaId } = template.slot;
    const named = scope === undefined ? kept.documents : documents;
    const view = {
      id: named[0]?.id,
      waba_id: wabaId,
      client_id: clientId,
      active: kept.active,
      namespace: `namespace_${wabaId}`,
      platform_template: template.shown,
      channel_campaigns: groupsOf(clientId, documents),
    };
    return documents.length === 0 ? [] : [{ template, documents, view }];
  });
}

function groupsOf(clientId: ClientId, documents: readonly ModelDocument[]) {
  const groups = campaignIds.map((campaignId) => ({
    campaign_id: campaignId,
    campaign_name: campaignName(clientId, campaignId),
    channels: channels
      .filter(({ channelId }) =>
        documents.some(({ pair }) => pair?.channelId === channelId && pair.campaignId === campaignId),
      )
      .toSorted((a, b) => a.channelId - b.channelId)
      .map(({ channelId, name, did }) => ({
        channel_id: channelId,
        ...(name === '' ? {} : { name }),
        did,
        type: 'MESSAGING',
      })),
  }));
  return groups.filter((group) => group.channels.length > 0);
}

type FilterOf = (entry: Entry, value: string) => boolean;

const ofTemplate: Readonly<Record<string, FilterOf>> = {
  active: ({ view }, value) => String(view['active']) === value,
  state: ({ template }, value) => value.split(',').includes(template.shown.status),
  lang: ({ template }, value) => value.split(',').includes(template.slot.language),
  name: ({ template }, value) => template.slot.name === value,
  search: ({ template }, value) => template.slot.name.toLowerCase().includes(value.toLowerCase()),
};

type DocumentFilterOf = (pair: ModelDocument['pair'], value: string, clientId: ClientId) => boolean;

/** One document must pass all of these filters. */
const ofDocument: Readonly<Record<string, DocumentFilterOf>> = {
  campaign_name: (pair, value, clientId) =>
    value === (pair === undefined ? 'Unassigned' : campaignName(clientId, pair.campaignId)),
  channel_ids: (pair, value) => value.split(',').includes(String(pair?.channelId)),
  did: (pair, value, clientId) =>
    channels.some((each) => each.did === value && each.clientId === clientId && each.channelId === pair?.channelId),
};

function passes(entry: Entry, clientId: ClientId, query: ListingQuery): boolean {
  const { deleted = 'false', ...rest } = query;
  if (String(entry.template.deleted) !== deleted) return false;
  const given = Object.entries(rest);
  return (
    given.every(([name, value]) => ofTemplate[name]?.(entry, value) ?? true) &&
    entry.documents.some(({ pair }) =>
      given.every(([name, value]) => ofDocument[name]?.(pair, value, clientId) ?? true),
    )
  );
}

/** Learns the ids of documents that appear in a listing for the first time. */
export function learnListed(model: Model, clientId: ClientId, listed: readonly unknown[]): void {
  for (const entry of listed) {
    const { id, platform_template } = entry as { id: string; platform_template: { id: string } };
    const template = [...model.stored.values(), ...model.archived].find(
      ({ shown }) => shown.id === platform_template.id,
    );
    const oldest = template?.kept.get(clientId)?.documents[0];
    expect(oldest, `client ${clientId} is shown a template that it should not have`).toBeDefined();
    if (oldest !== undefined) model.learnId(oldest, id);
  }
}
