import {
  campaignKey,
  channelKey,
  clientKey,
  type DidItem,
  didKey,
  registeredClientKey,
  userKey,
  type WabaItem,
  wabaKey,
} from '../access/directory-items.ts';
import { credentialKey } from '../access/sign-in/credential-items.ts';
import type { Credential } from '../access/sign-in/sign-in.ts';
import {
  firstAttributes,
  listedChannelKey,
  type ProvisionedChannel,
  provisionedAttributes,
  wabaNumberAttributes,
  wabaNumberKey,
} from '../channels/channel-item.ts';
import { omitUndefined } from '../keys/omit-undefined.ts';
import { type StopWordListItem, stopWordListKey } from '../opt-outs/stop-word-list.ts';
import { appOfWaba } from './desired-apps.ts';
import type { ProvisioningFile } from './provisioning-file.ts';

/** `credentials` has no sort key. */
export type ProvisionedTable = 'directory' | 'credentials' | 'channels';

export type Attributes = Readonly<Record<string, unknown>>;

export interface ItemPlace {
  readonly table: ProvisionedTable;
  readonly key: { readonly pk: string; readonly sk?: string };
}

export interface ProvisionedItem extends ItemPlace {
  readonly attributes: Attributes;
  readonly whenAbsent?: Attributes;
}

/** User id and user name are the same, because user names are unique and never reassigned. */
function userIdOf(username: string): string {
  return username;
}

/** Returns all directory items of a valid file; an item comes after those that it refers to. */
export function provisionedItems(file: ProvisioningFile): ProvisionedItem[] {
  return directoryItems(file).map((item) => ({ table: 'directory', ...item }));
}

type DirectoryItem = Omit<ProvisionedItem, 'table'>;

function directoryItems(file: ProvisioningFile): DirectoryItem[] {
  return [
    ...file.clients.map((client) => ({
      key: clientKey(client.client_id),
      // A field is null when absent: an item keeps unnamed attributes, and null makes the plan show a removal.
      attributes: {
        clientId: client.client_id,
        name: client.name,
        optOutsForUtility: client.opt_outs_for_utility,
        zone: client.zone ?? null,
        monthlyBudget: client.monthly_budget ?? null,
      },
    })),
    ...file.clients.map(({ client_id: clientId, name }) => ({
      key: registeredClientKey(clientId),
      attributes: { clientId, name },
    })),
    ...file.wabas.flatMap((waba) => membershipItems(file, waba)),
    ...file.campaigns.map(({ campaign_id: campaignId, client_id: clientId, name }) => ({
      key: campaignKey(clientId, campaignId),
      attributes: { campaignId, clientId, name },
    })),
    ...file.channels.flatMap((channel) => channelItems(file, channel)),
    ...file.users.map(({ username, client_id: clientId, permissions, campaign_ids: campaignIds }) => {
      const userId = userIdOf(username);
      return { key: userKey(clientId, userId), attributes: { userId, username, clientId, permissions, campaignIds } };
    }),
    ...wordItems(file),
  ];
}

/** For a list that the file lacks, the shipped one counts. */
function wordItems({ opt_out_words: given }: ProvisioningFile): DirectoryItem[] {
  if (given === undefined) return [];
  const { stop, start, stop_buttons: stopButtons } = given;
  const attributes: StopWordListItem = { words: omitUndefined({ stop, start, stopButtons }) };
  return [{ key: stopWordListKey, attributes: { ...attributes } }];
}

/** Lets a user log in (D11). */
export function credentialItem(
  { username, client_id: clientId }: Pick<FileUser, 'username' | 'client_id'>,
  { passwordHash, givenHash }: Pick<Credential, 'passwordHash' | 'givenHash'>,
): ProvisionedItem {
  const attributes = { passwordHash, userId: userIdOf(username), clientId };
  const given = omitUndefined({ givenHash });
  return { table: 'credentials', key: credentialKey(username), attributes: { ...attributes, ...given } };
}

type FileUser = ProvisioningFile['users'][number];
type FileWaba = ProvisioningFile['wabas'][number];
type FileChannel = ProvisioningFile['channels'][number];

function wabaFacts({ clients }: ProvisioningFile, waba: FileWaba): DidItem['waba'] {
  const { waba_id: wabaId, name, namespace, credential, dids, platform_stops: platformStops } = waba;
  const clientIds = waba.client_ids.toSorted((a, b) => a - b);
  const heeding = new Set(clients.filter((each) => each.opt_outs_for_utility).map(({ client_id }) => client_id));
  const utilityStops = clientIds.filter((id) => heeding.has(id));
  return { wabaId, name, namespace, credential, clientIds, dids, platformStops, utilityStops };
}

/** Returns the budgets of a WABA's clients. They are in each DID's copy, which a send reads anyway (D58). */
function monthlyBudgets({ clients }: ProvisioningFile, waba: FileWaba): DidItem['waba']['monthlyBudgets'] {
  const budgets = clients
    .filter(({ client_id }) => waba.client_ids.includes(client_id))
    .flatMap(({ client_id: clientId, monthly_budget: given }) => (given === undefined ? [] : [{ clientId, ...given }]))
    .sort((one, other) => one.clientId - other.clientId);
  return budgets.length === 0 ? undefined : budgets;
}

function membershipItems(file: ProvisioningFile, waba: FileWaba): DirectoryItem[] {
  const attributes: WabaItem = {
    ...wabaFacts(file, waba),
    businessId: waba.business_id,
    businessName: waba.business_name,
  };
  return waba.client_ids.map((clientId) => ({ key: wabaKey(clientId, waba.waba_id), attributes: { ...attributes } }));
}

/** Returns a channel under its client, and the copy under its DID. */
function channelItems(file: ProvisioningFile, channel: FileChannel): DirectoryItem[] {
  const facts = {
    channelId: channel.channel_id,
    did: channel.did,
    clientId: channel.client_id,
    wabaId: channel.waba_id,
    phoneNumberId: channel.phone_number_id,
    name: channel.name,
    throughputPerSecond: channel.throughput_per_second,
  };
  const { waba: ofFile } = ownersOf(file, channel);
  const waba = {
    ...wabaFacts(file, ofFile),
    ...omitUndefined({ appId: appOfWaba(file, channel.waba_id), monthlyBudgets: monthlyBudgets(file, ofFile) }),
  };
  const account = omitUndefined({ messagingAccountId: channel.messaging_account_id });
  const didItem: DidItem = { channel: { ...facts, ...account }, waba };
  return [
    { key: channelKey(channel.client_id, channel.channel_id), attributes: { ...facts } },
    { key: didKey(channel.did), attributes: { ...didItem } },
  ];
}

/** Returns all items of the channels table: each channel, and the entry that synchronization finds it by. */
export function provisionedChannels(file: ProvisioningFile, nowIso: string): ProvisionedItem[] {
  return file.channels.flatMap((channel) => {
    const { waba, client } = ownersOf(file, channel);
    const listed: ProvisionedChannel = {
      clientId: client.client_id,
      waId: channel.did,
      channelId: channel.channel_id,
      clientName: client.name,
      wabaId: waba.waba_id,
      wabaName: waba.name,
      businessId: waba.business_id,
      businessName: waba.business_name,
      phoneNumberId: channel.phone_number_id,
      name: channel.name,
    };
    return [
      {
        table: 'channels',
        key: listedChannelKey(listed.clientId, listed.waId),
        attributes: provisionedAttributes(listed),
        whenAbsent: firstAttributes(nowIso),
      },
      {
        table: 'channels',
        key: wabaNumberKey(listed.wabaId, listed.phoneNumberId),
        attributes: wabaNumberAttributes(listed),
      },
    ];
  });
}

function ownersOf(file: ProvisioningFile, channel: FileChannel) {
  const waba = file.wabas.find(({ waba_id }) => waba_id === channel.waba_id);
  const client = file.clients.find(({ client_id }) => client_id === channel.client_id);
  if (waba === undefined || client === undefined) throw new Error('a channel refers to what is not in the file');
  return { waba, client };
}
