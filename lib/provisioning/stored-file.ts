import * as v from 'valibot';
import { entityOf } from './provisioned-entity.ts';
import type { ProvisionedState, StoredItem } from './provisioning-plan.ts';

type Entry = Readonly<Record<string, unknown>>;

/** Each list of a file has the key of its entries. */
const listKeys = {
  clients: 'client_id',
  wabas: 'waba_id',
  channels: 'channel_id',
  campaigns: 'campaign_id',
  users: 'username',
  platform_credentials: 'name',
  platform_apps: 'id',
} as const;
type ListName = keyof typeof listKeys;

const ClientSchema = v.object({
  clientId: v.number(),
  name: v.string(),
  optOutsForUtility: v.optional(v.boolean()),
  zone: v.nullish(v.string()),
  monthlyBudget: v.nullish(v.object({ amount: v.number(), stop: v.boolean() })),
});
const WabaSchema = v.object({
  ...{ wabaId: v.string(), name: v.string(), namespace: v.string(), credential: v.string() },
  ...{ clientIds: v.array(v.number()), businessId: v.string(), businessName: v.string() },
  ...{ dids: v.optional(v.string()), platformStops: v.optional(v.string()) },
});
const DidSchema = v.object({
  channel: v.object({
    ...{ channelId: v.number(), did: v.string(), clientId: v.number(), wabaId: v.string(), phoneNumberId: v.string() },
    ...{ name: v.optional(v.string()), throughputPerSecond: v.number(), messagingAccountId: v.optional(v.string()) },
  }),
});
const CampaignSchema = v.object({ campaignId: v.number(), clientId: v.number(), name: v.string() });
const UserSchema = v.object({
  ...{ username: v.string(), clientId: v.number() },
  ...{ permissions: v.array(v.string()), campaignIds: v.array(v.number()) },
});
const HashSchema = v.object({ userId: v.string(), passwordHash: v.string() });
const WordsSchema = v.object({
  words: v.object({
    stop: v.optional(v.array(v.string())),
    start: v.optional(v.array(v.string())),
    stopButtons: v.optional(v.array(v.string())),
  }),
});

/**
 * Returns the file for the stored state, unchecked. Throws on an item of another form. Users have their stored hash.
 */
export function storedFile({ items, platformCredentials, platformApps }: ProvisionedState): Entry {
  const of = (kind: string, sk: (text: string) => boolean) =>
    items.filter((item) => item.table === 'directory' && entityOf(item)?.kind === kind && sk(item.key.sk ?? ''));
  const parsed = <S extends v.GenericSchema>(schema: S, some: readonly StoredItem[]): v.InferOutput<S>[] =>
    some.map(({ attributes }) => v.parse(schema, attributes));
  const hashes = new Map(
    parsed(
      HashSchema,
      items.filter(({ table }) => table === 'credentials'),
    ).map((each) => [each.userId, each.passwordHash]),
  );
  const wabas = new Map(
    parsed(
      WabaSchema,
      of('WABA membership', () => true),
    ).map((waba) => [waba.wabaId, waba]),
  );
  const [words] = parsed(
    WordsSchema,
    of('words', () => true),
  );
  return {
    clients: parsed(
      ClientSchema,
      of('client', (sk) => sk === 'PROFILE'),
    ).map((client) => ({
      client_id: client.clientId,
      name: client.name,
      opt_outs_for_utility: client.optOutsForUtility,
      ...{ zone: client.zone ?? undefined, monthly_budget: client.monthlyBudget ?? undefined },
    })),
    wabas: [...wabas.values()].map(({ dids, platformStops: platform_stops, ...waba }) => ({
      ...{ waba_id: waba.wabaId, name: waba.name, namespace: waba.namespace, client_ids: waba.clientIds },
      ...{ credential: waba.credential, business_id: waba.businessId, business_name: waba.businessName },
      ...{ dids, platform_stops },
    })),
    channels: parsed(
      DidSchema,
      of('channel', (sk) => sk === 'DID'),
    ).map(({ channel }) => ({
      ...{ channel_id: channel.channelId, did: channel.did, client_id: channel.clientId, waba_id: channel.wabaId },
      ...{ phone_number_id: channel.phoneNumberId, throughput_per_second: channel.throughputPerSecond },
      ...{ name: channel.name, messaging_account_id: channel.messagingAccountId },
    })),
    campaigns: parsed(
      CampaignSchema,
      of('campaign', () => true),
    ).map((campaign) => ({
      ...{ campaign_id: campaign.campaignId, client_id: campaign.clientId, name: campaign.name },
    })),
    users: parsed(
      UserSchema,
      of('user', () => true),
    ).map((user) => ({
      ...{ username: user.username, client_id: user.clientId, permissions: user.permissions },
      ...{ campaign_ids: user.campaignIds, password_hash: hashes.get(user.username) },
    })),
    platform_credentials: Object.entries(platformCredentials).map(([name, { accessToken, appId }]) => ({
      ...{ name, access_token: accessToken, app_id: appId },
    })),
    platform_apps: Object.entries(platformApps).map(([id, app]) => ({
      ...{ id, app_secret: app.appSecret, verify_token: app.verifyToken, wabas: app.wabas },
      previous_app_secret: app.previousAppSecret,
    })),
    opt_out_words: words && {
      ...{ stop: words.words.stop, start: words.words.start, stop_buttons: words.words.stopButtons },
    },
  };
}

/**
 * Returns a file with a part merged in: the part's entries come first, so that fault paths are those of the part, then
 * stored entries that it does not name.
 */
export function withPart(stored: Entry, part: unknown): unknown {
  if (part === null || typeof part !== 'object' || Array.isArray(part)) return part;
  const given: Entry = { ...part };
  const lists = Object.keys(listKeys).map((name) => [name, merged(name as ListName, stored[name], given[name])]);
  return { ...stored, ...given, ...Object.fromEntries(lists) };
}

function merged(name: ListName, stored: unknown, given: unknown = []): unknown {
  if (!Array.isArray(given) || !Array.isArray(stored)) return given;
  const named = new Set(given.map((entry) => keyIn(name, entry)));
  return [...given, ...stored.filter((entry) => !named.has(keyIn(name, entry)))];
}

function keyIn(name: ListName, entry: unknown): unknown {
  return entry !== null && typeof entry === 'object' ? (entry as Entry)[listKeys[name]] : undefined;
}

export function isInPart(part: unknown, name: ListName, key: unknown): boolean {
  const list = part !== null && typeof part === 'object' ? (part as Entry)[name] : undefined;
  return Array.isArray(list) && list.some((entry) => keyIn(name, entry) === key);
}
