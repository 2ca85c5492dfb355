import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { ItemKey } from '../aws/item-key.ts';
import type { ListedChannel, LiveValues } from './channel.ts';

/**
 * Listings read thousands of items, and the number of attributes costs, so two JSON lists hold the values: about 350
 * bytes a channel.
 */
export const channelShards = 32;

/**
 * A client's channels are a prefix in every shard, and all channels are the whole shards, so no listing scans the
 * table.
 */
export function listedChannelKey(clientId: number, waId: string): ItemKey {
  const [byte = 0] = createHash('sha256').update(waId).digest();
  return { pk: shardPartition(byte % channelShards), sk: `${clientPrefix(clientId)}${waId}` };
}

export function isListedChannelKey({ pk }: { readonly pk: string }): boolean {
  return pk.startsWith('CHANNELS#');
}

export function shardPartitions(): string[] {
  return Array.from({ length: channelShards }, (_, shard) => shardPartition(shard));
}

function shardPartition(shard: number): string {
  return `CHANNELS#${shard}`;
}

/** Begins the sort keys of a client's channels, and of no other. */
export function clientPrefix(clientId: number): string {
  return `${clientId}#`;
}

/** Finds the channel of a platform's number. The entry may be stale; the channel's facts are authoritative. */
export function wabaNumberKey(wabaId: string, phoneNumberId: string): ItemKey {
  return { pk: wabaPartition(wabaId), sk: phoneNumberId };
}

export function wabaPartition(wabaId: string): string {
  return `WABA#${wabaId}`;
}

export type ProvisionedChannel = Omit<ListedChannel, keyof LiveValues | 'createdAt' | 'createdBy' | 'deleted'>;

/** Returns the attributes that provisioning sets on a channel: facts, gone, id, and its name or an empty text. */
export function provisionedAttributes(channel: ProvisionedChannel) {
  return { f: factsText(channel), g: false, i: channel.channelId, n: channel.name ?? '' };
}

/** A channel that the file has dropped stays listed, as deleted. */
export const goneAttributes = { g: true } as const;

/** Gives a new channel its creation time and its author. */
export function firstAttributes(nowIso: string) {
  return { t: JSON.stringify([nowIso, 'provisioning']) };
}

/** Names the channel of a WABA's number. */
export function wabaNumberAttributes({ clientId, waId }: Pick<ListedChannel, 'clientId' | 'waId'>) {
  return { c: clientId, d: waId };
}

export function factsText(channel: ProvisionedChannel): string {
  const { clientName, wabaId, wabaName, businessId, businessName, phoneNumberId } = channel;
  return JSON.stringify([clientName, wabaId, wabaName, businessId, businessName, phoneNumberId]);
}

const liveNames = [
  'status',
  'currentLimit',
  'qualityRating',
  'isOnBizApp',
  'phoneCode',
  'phoneNumber',
  'registeredAt',
  'externalWebhook',
  'throughputLevel',
] as const satisfies readonly (keyof LiveValues)[];

/**
 * Spells the live values in the order of `liveNames`. Synchronization writes them as `l`, and their reading time in ms
 * as `v`.
 */
export function liveText(live: LiveValues): string {
  return JSON.stringify(liveNames.map((name) => live[name] ?? null));
}

/**
 * Returns the new live values after a reading, or undefined without a change. Missing values go, but the status stays.
 */
export function changedLive(channel: ListedChannel, reported: LiveValues): LiveValues | undefined {
  const live = { ...reported, status: reported.status ?? channel.status };
  return liveText(live) === liveText(channel) ? undefined : live;
}

const packed = <const Items extends v.TupleItems>(items: Items) =>
  v.pipe(v.string(), v.parseJson(), v.strictTuple(items));
const text = v.string();
const textOrNull = v.nullable(v.string());

const StoredChannelSchema = v.object({
  sk: v.pipe(v.string(), v.regex(/^\d+#\d+$/)),
  f: packed([text, text, text, text, text, text]),
  t: packed([text, text]),
  g: v.boolean(),
  i: v.number(),
  n: v.string(),
  l: v.optional(
    packed([
      text,
      textOrNull,
      textOrNull,
      v.nullable(v.boolean()),
      textOrNull,
      textOrNull,
      textOrNull,
      textOrNull,
      textOrNull,
    ]),
    liveText({ status: 'ACTIVE' }),
  ),
});

export function channelFromItem(item: unknown): ListedChannel {
  const { sk, f: facts, t: creation, g: deleted, i: channelId, n: name, l: live } = v.parse(StoredChannelSchema, item);
  const [clientId = '', waId = ''] = sk.split('#');
  const [clientName, wabaId, wabaName, businessId, businessName, phoneNumberId] = facts;
  const [createdAt, createdBy] = creation;
  const [status, ...reported] = live;
  return {
    clientId: Number(clientId),
    waId,
    channelId,
    clientName,
    wabaId,
    wabaName,
    businessId,
    businessName,
    phoneNumberId,
    ...(name === '' ? {} : { name }),
    createdAt,
    createdBy,
    deleted,
    status,
    ...reportedValues(reported),
  };
}

function reportedValues(
  reported: readonly [
    limit: string | null,
    quality: string | null,
    onBizApp: boolean | null,
    dialCode: string | null,
    number: string | null,
    registeredAt: string | null,
    webhook: string | null,
    throughput: string | null,
  ],
): Omit<LiveValues, 'status'> {
  const [limit, quality, onBizApp, dialCode, number, registeredAt, webhook, throughput] = reported;
  return {
    currentLimit: limit ?? undefined,
    qualityRating: quality ?? undefined,
    isOnBizApp: onBizApp ?? undefined,
    phoneCode: dialCode ?? undefined,
    phoneNumber: number ?? undefined,
    registeredAt: registeredAt ?? undefined,
    externalWebhook: webhook ?? undefined,
    throughputLevel: throughput ?? undefined,
  };
}

const WabaNumberSchema = v.object({ sk: v.string(), c: v.number(), d: v.string() });

export interface WabaNumber {
  readonly phoneNumberId: string;
  readonly clientId: number;
  readonly waId: string;
}

/** Parses a WABA's entry of a number; throws on another item. */
export function wabaNumberFromItem(item: unknown): WabaNumber {
  const { sk: phoneNumberId, c: clientId, d: waId } = v.parse(WabaNumberSchema, item);
  return { phoneNumberId, clientId, waId };
}
