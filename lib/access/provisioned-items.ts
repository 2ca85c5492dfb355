import type { ItemKey } from '../aws/item-key.ts';
import {
  type ChannelItem,
  campaignKey,
  channelKey,
  clientKey,
  type DidItem,
  didKey,
  registeredClientKey,
  userKey,
  type WabaItem,
  wabaKey,
} from './directory-items.ts';
import type { ProvisioningFile } from './provisioning.ts';

/** One item of the directory as provisioning wants it. */
export interface ProvisionedItem {
  readonly key: ItemKey;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Attributes that keep the value they have, if they have one. */
  readonly whenAbsent?: Readonly<Record<string, unknown>>;
}

/** The user id of a user name. They are the same: user names are unique and never given to somebody else. */
export function userIdOf(username: string): string {
  return username;
}

/** All items of the directory for a file that has been judged sound; referred-to items come before those that refer. */
export function provisionedItems(file: ProvisioningFile, nowIso: string): ProvisionedItem[] {
  return [
    ...file.clients.map(({ client_id: clientId, name }) => ({
      key: clientKey(clientId),
      attributes: { clientId, name },
    })),
    ...file.clients.map(({ client_id: clientId }) => ({
      key: registeredClientKey(clientId),
      attributes: { clientId },
    })),
    ...file.wabas.flatMap(membershipItems),
    ...file.campaigns.map(({ campaign_id: campaignId, client_id: clientId, name }) => ({
      key: campaignKey(clientId, campaignId),
      attributes: { campaignId, clientId, name },
    })),
    ...file.channels.flatMap((channel) => channelItems(file, channel, nowIso)),
    ...file.users.map(({ username, client_id: clientId, permissions, campaign_ids: campaignIds }) => {
      const userId = userIdOf(username);
      return { key: userKey(clientId, userId), attributes: { userId, username, clientId, permissions, campaignIds } };
    }),
  ];
}

type FileWaba = ProvisioningFile['wabas'][number];
type FileChannel = ProvisioningFile['channels'][number];

function wabaFacts(waba: FileWaba): DidItem['waba'] {
  const { waba_id: wabaId, name, namespace, credential } = waba;
  return { wabaId, name, namespace, credential, clientIds: waba.client_ids.toSorted((a, b) => a - b) };
}

function membershipItems(waba: FileWaba): ProvisionedItem[] {
  const attributes: WabaItem = {
    ...wabaFacts(waba),
    businessId: waba.business_id,
    businessName: waba.business_name,
  };
  return waba.client_ids.map((clientId) => ({ key: wabaKey(clientId, waba.waba_id), attributes: { ...attributes } }));
}

/** A channel under its client, and the copy under its DID. */
function channelItems(file: ProvisioningFile, channel: FileChannel, nowIso: string): ProvisionedItem[] {
  const waba = file.wabas.find(({ waba_id }) => waba_id === channel.waba_id);
  const client = file.clients.find(({ client_id }) => client_id === channel.client_id);
  if (waba === undefined || client === undefined) throw new Error('a channel refers to what is not in the file');
  const facts: DidItem['channel'] = {
    channelId: channel.channel_id,
    did: channel.did,
    clientId: channel.client_id,
    wabaId: channel.waba_id,
    phoneNumberId: channel.phone_number_id,
    name: channel.name,
    throughputPerSecond: channel.throughput_per_second,
  };
  const listed = {
    ...facts,
    clientName: client.name,
    wabaName: waba.name,
    businessId: waba.business_id,
    businessName: waba.business_name,
  } satisfies Partial<ChannelItem>;
  return [
    {
      key: channelKey(channel.client_id, channel.channel_id),
      attributes: listed,
      whenAbsent: { status: 'ACTIVE', createdAt: nowIso, createdBy: 'provisioning' } satisfies Partial<ChannelItem>,
    },
    { key: didKey(channel.did), attributes: { channel: facts, waba: wabaFacts(waba) } },
  ];
}
