import * as v from 'valibot';
import type { ItemKey } from '../aws/item-key.ts';

/**
 * The items of the directory table. Everything of a client is under its own partition key, so that every read is scoped by
 * construction; a DID has a partition of its own with a copy of its channel and WABA, so that one read answers the DID
 * rule (D5). Provisioning writes all copies; the functions only read.
 */
export const clientKey = (clientId: number): ItemKey => ({ pk: clientPartition(clientId), sk: profileSortKey });
export const userKey = (clientId: number, userId: string): ItemKey =>
  clientItem(clientId, `${userSortPrefix}${userId}`);
export const campaignKey = (clientId: number, campaignId: number): ItemKey =>
  clientItem(clientId, `${campaignSortPrefix}${campaignId}`);
export const channelKey = (clientId: number, channelId: number): ItemKey =>
  clientItem(clientId, `${channelSortPrefix}${channelId}`);
export const wabaKey = (clientId: number, wabaId: string): ItemKey =>
  clientItem(clientId, `${wabaSortPrefix}${wabaId}`);
/** All clients, in one partition and in order of their ids, for those who must go through all of them. */
export const registeredClientKey = (clientId: number): ItemKey => ({
  pk: clientsPartition,
  sk: `${clientSortPrefix}${String(clientId).padStart(16, '0')}`,
});
export const didKey = (did: string): ItemKey => ({ pk: `DID#${did}`, sk: didSortKey });

export const clientsPartition = 'CLIENTS';
export const clientPartitionPrefix = 'CLIENT#';
export const clientSortPrefix = 'CLIENT#';
export const campaignSortPrefix = 'CAMPAIGN#';
export const channelSortPrefix = 'CHANNEL#';
export const wabaSortPrefix = 'WABA#';
export const userSortPrefix = 'USER#';
/** The sort keys of what there is once in its partition. */
export const profileSortKey = 'PROFILE';
export const didSortKey = 'DID';

export function clientPartition(clientId: number): string {
  return `${clientPartitionPrefix}${clientId}`;
}

function clientItem(clientId: number, sk: string): ItemKey {
  return { pk: clientPartition(clientId), sk };
}

/** A client, in its own partition and among all; the zone in its own alone. */
export const ClientItemSchema = v.object({
  clientId: v.number(),
  name: v.string(),
  zone: v.nullish(v.string()),
});

export const UserItemSchema = v.object({
  userId: v.string(),
  username: v.string(),
  clientId: v.number(),
  permissions: v.array(v.string()),
  campaignIds: v.array(v.number()),
});

export const CampaignItemSchema = v.object({ campaignId: v.number(), clientId: v.number(), name: v.string() });

const WabaSchema = v.object({
  wabaId: v.string(),
  name: v.string(),
  namespace: v.string(),
  credential: v.string(),
  clientIds: v.array(v.number()),
  dids: v.picklist(['waba', 'own']),
  platformStops: v.exactOptional(v.picklist(['number', 'waba'])),
  utilityStops: v.exactOptional(v.array(v.number())),
});

/** A client's membership of a WABA, with the WABA's facts. */
export const WabaItemSchema = v.object({ ...WabaSchema.entries, businessId: v.string(), businessName: v.string() });

/** A channel as requests need it; as it is listed, it is in the table of channels (lib/channels). */
export const ChannelItemSchema = v.object({
  channelId: v.number(),
  did: v.string(),
  clientId: v.number(),
  wabaId: v.string(),
  phoneNumberId: v.string(),
  name: v.string(),
  throughputPerSecond: v.number(),
});

export const DidItemSchema = v.object({
  channel: v.object({
    ...ChannelItemSchema.entries,
    /** What its sends name as the account that they are of, where the operator names one. */
    messagingAccountId: v.exactOptional(v.string()),
  }),
  waba: v.object({
    ...WabaSchema.entries,
    /** Of its clients that have one: what they may spend in a month (D58). */
    monthlyBudgets: v.exactOptional(v.array(v.object({ clientId: v.number(), amount: v.number(), stop: v.boolean() }))),
    /** The platform app that tells what becomes of its messages (D38), where there is one. */
    appId: v.exactOptional(v.string()),
  }),
});

export type WabaItem = v.InferOutput<typeof WabaItemSchema>;
export type DidItem = v.InferOutput<typeof DidItemSchema>;
