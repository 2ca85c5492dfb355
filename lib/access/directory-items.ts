import * as v from 'valibot';
import type { ItemKey } from '../aws/item-key.ts';

/**
 * Provisioning writes the items of the directory table and functions only read them. A client's items share its
 * partition, so that every read is scoped.
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
/** All clients are in one partition, in order of their ids. The padding makes keys sort as numbers. */
export const registeredClientKey = (clientId: number): ItemKey => ({
  pk: clientsPartition,
  sk: `${clientSortPrefix}${String(clientId).padStart(16, '0')}`,
});
/** A DID's partition has copies of its channel and WABA, so that one read answers the DID rule (D5). */
export const didKey = (did: string): ItemKey => ({ pk: `DID#${did}`, sk: didSortKey });

export const clientsPartition = 'CLIENTS';
export const clientPartitionPrefix = 'CLIENT#';
export const clientSortPrefix = 'CLIENT#';
export const campaignSortPrefix = 'CAMPAIGN#';
export const channelSortPrefix = 'CHANNEL#';
export const wabaSortPrefix = 'WABA#';
export const userSortPrefix = 'USER#';
/** These items are alone in their partition. */
export const profileSortKey = 'PROFILE';
export const didSortKey = 'DID';

export function clientPartition(clientId: number): string {
  return `${clientPartitionPrefix}${clientId}`;
}

function clientItem(clientId: number, sk: string): ItemKey {
  return { pk: clientPartition(clientId), sk };
}

/** Only the copy in the client's own partition has the zone. */
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
  platformStops: v.optional(v.picklist(['number', 'waba'])),
  utilityStops: v.optional(v.array(v.number())),
});

export const WabaItemSchema = v.object({ ...WabaSchema.entries, businessId: v.string(), businessName: v.string() });

/** The item has what requests need. The table of channels has the listed form (lib/channels). */
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
    messagingAccountId: v.optional(v.string()),
  }),
  waba: v.object({
    ...WabaSchema.entries,
    /** Clients with a budget may spend this much in a month (D58). */
    monthlyBudgets: v.optional(v.array(v.object({ clientId: v.number(), amount: v.number(), stop: v.boolean() }))),
    /** The platform app delivers receipts for its messages (D38), if there is one. */
    appId: v.optional(v.string()),
  }),
});

export type WabaItem = v.InferOutput<typeof WabaItemSchema>;
export type DidItem = v.InferOutput<typeof DidItemSchema>;
