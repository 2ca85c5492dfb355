import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { ItemKey } from '../aws/item-key.ts';
import type { ListedChannel, LiveValues } from './channel.ts';

/**
 * The items of the channels table. Listings read channels by the thousand, and what an item costs to read and to parse
 * grows with the number of its attributes: so the values are packed into two, as JSON lists, and a channel takes about 350
 * bytes. This is the one place that knows them.
 *
 * A channel is under `CHANNELS#<shard>`, `<client id>#<DID>`: one client's channels are a prefix in each of the shards and
 * all channels are the shards whole, so that both are read side by side and nothing is ever scanned.
 *
 * Written by provisioning:
 *   f facts: client name, WABA id and name, business id and name, the platform's number id · t when and by whom it was
 *   created · g gone: true when taken out of the file · i channel id · n its name, empty when it has none
 * Written by synchronization, and absent until the platform has been asked:
 *   l live values, those of `liveNames` in order · v when they were read, in ms
 *
 * Under `WABA#<WABA id>`, `<number id>` is written which channel (c client id, d DID) a number of the WABA is, so that
 * a synchronization, which knows numbers only, finds its channels. Such an entry may be out of date: the channel has the
 * last word (its facts).
 */
export const channelShards = 32;

/** Where a client's channel of a DID is kept. */
export function listedChannelKey(clientId: number, waId: string): ItemKey {
  const [byte = 0] = createHash('sha256').update(waId).digest();
  return { pk: shardPartition(byte % channelShards), sk: `${clientPrefix(clientId)}${waId}` };
}

/** Whether a key of this table is that of a channel, and not that of a WABA's number. */
export function isListedChannelKey({ pk }: { readonly pk: string }): boolean {
  return pk.startsWith('CHANNELS#');
}

export function shardPartitions(): string[] {
  return Array.from({ length: channelShards }, (_, shard) => shardPartition(shard));
}

function shardPartition(shard: number): string {
  return `CHANNELS#${shard}`;
}

/** Begins the sort key of every channel of a client, and of no other. */
export function clientPrefix(clientId: number): string {
  return `${clientId}#`;
}

export function wabaNumberKey(wabaId: string, phoneNumberId: string): ItemKey {
  return { pk: wabaPartition(wabaId), sk: phoneNumberId };
}

export function wabaPartition(wabaId: string): string {
  return `WABA#${wabaId}`;
}

/** What provisioning says of a channel. */
export type ProvisionedChannel = Omit<ListedChannel, keyof LiveValues | 'createdAt' | 'createdBy' | 'deleted'>;

/** The attributes that provisioning sets on a channel: it is there, so it is not gone. */
export function provisionedAttributes(channel: ProvisionedChannel) {
  return { f: factsText(channel), g: false, i: channel.channelId, n: channel.name ?? '' };
}

/** Those that it sets when a channel has been taken out of the file: it stays in the listing, as deleted. */
export const goneAttributes = { g: true } as const;

/** Those that it sets on a new channel only. */
export function firstAttributes(nowIso: string) {
  return { t: JSON.stringify([nowIso, 'provisioning']) };
}

export function wabaNumberAttributes({ clientId, waId }: Pick<ListedChannel, 'clientId' | 'waId'>) {
  return { c: clientId, d: waId };
}

/** What provisioning says of a channel, as it is stored. */
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

/** Live values as they are stored. */
export function liveText(live: LiveValues): string {
  return JSON.stringify(liveNames.map((name) => live[name] ?? null));
}

/**
 * The live values that a channel is to have when the platform says these; undefined when it has them already. A value that
 * is told no more goes; the status stays as it was, for a channel always has one.
 */
export function changedLive(channel: ListedChannel, told: LiveValues): LiveValues | undefined {
  const live = { ...told, status: told.status ?? channel.status };
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

/** Reads a stored channel; throws when the item is not one. */
export function channelFromItem(item: unknown): ListedChannel {
  const { sk, f: facts, t: creation, g: deleted, i: channelId, n: name, l: live } = v.parse(StoredChannelSchema, item);
  const [clientId = '', waId = ''] = sk.split('#');
  const [clientName, wabaId, wabaName, businessId, businessName, phoneNumberId] = facts;
  const [createdAt, createdBy] = creation;
  const [status, ...told] = live;
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
    ...toldValues(told),
  };
}

function toldValues(
  told: readonly [
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
  const [limit, quality, onBizApp, dialCode, number, registeredAt, webhook, throughput] = told;
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

/** Which channel a number of a WABA is. */
export interface WabaNumber {
  readonly phoneNumberId: string;
  readonly clientId: number;
  readonly waId: string;
}

/** Reads a WABA's entry of a number; throws when the item is not one. */
export function wabaNumberFromItem(item: unknown): WabaNumber {
  const { sk: phoneNumberId, c: clientId, d: waId } = v.parse(WabaNumberSchema, item);
  return { phoneNumberId, clientId, waId };
}
