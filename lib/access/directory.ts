import { Refusal } from '../http/refusal.ts';

/** The spelling of a DID. Other text is never looked up: DynamoDB refuses keys over 2,048 bytes. */
export const didPattern = /^\d{5,20}$/;

/** A channel: one business number (DID) of one client, on one WABA. */
export interface Channel {
  readonly channelId: number;
  readonly did: string;
  readonly clientId: number;
  readonly wabaId: string;
  readonly phoneNumberId: string;
  readonly name: string;
  /** The platform's limit for this number, in messages a second (platform reference, 4.4). */
  readonly throughputPerSecond: number;
  /**
   * The Messaging Account that sends from it, if the operator names one (platform reference, 8). Only the channel of a
   * `Did` has it.
   */
  readonly messagingAccountId?: string;
}

export interface Waba {
  readonly wabaId: string;
  readonly name: string;
  readonly namespace: string;
  /** Name of the entry in the platform-credentials secret. */
  readonly credential: string;
  /** Clients that work with this WABA, ascending. */
  readonly clientIds: readonly number[];
  /** Whether a client may use every DID of the WABA, or only its own (D5). */
  readonly dids: DidScope;
  /** How far an opt-out that the platform reports counts (D55): its number, or the WABA if the operator widens it. */
  readonly platformStops?: PlatformStops;
  /** Clients whose UTILITY messages heed opt-outs as well (D55). */
  readonly utilityStops?: readonly number[];
  /** Budgets of its clients (D58), where they have one. Only the WABA of a `Did` has them. */
  readonly monthlyBudgets?: readonly MonthlyBudget[];
  /** The platform app that delivers receipts (D38), if there is one. Only the WABA of a `Did` has it. */
  readonly appId?: string;
}

/** What a client may spend in a month of UTC (D58): at list prices, in dollars with up to eight decimals. */
export interface MonthlyBudget {
  readonly clientId: number;
  readonly amount: number;
  /** Refuses sends above the amount, except one-time codes; without it the client is only told. */
  readonly stop: boolean;
}

export type DidScope = 'waba' | 'own';

/** Whether several clients may send from one number of the WABA (D5). */
export function isShared({ dids, clientIds }: Pick<Waba, 'dids' | 'clientIds'>): boolean {
  return dids === 'waba' && clientIds.length > 1;
}

export type PlatformStops = 'number' | 'waba';

export interface Campaign {
  readonly campaignId: number;
  readonly clientId: number;
  readonly name: string;
}

export interface Client {
  readonly clientId: number;
  readonly name: string;
}

export interface UserProfile {
  readonly userId: string;
  readonly username: string;
  readonly clientId: number;
  readonly permissions: readonly string[];
  readonly campaignIds: readonly number[];
}

/** A DID with its WABA: all that an endpoint with a DID needs, from one read. */
export interface Did {
  readonly channel: Channel;
  readonly waba: Waba;
}

/** Read side of the directory. Every method is one strongly consistent DynamoDB request (pages of a query apart). */
export interface Directory {
  hasClient(clientId: number): Promise<boolean>;
  /** The IANA zone that the operator gave the client (D56), or undefined. */
  zoneOfClient(clientId: number): Promise<string | undefined>;
  findClient(clientId: number): Promise<Client | undefined>;
  findDid(did: string): Promise<Did | undefined>;
  findUser(clientId: number, userId: string): Promise<UserProfile | undefined>;
  /** All clients, ascending. */
  listClientIds(): Promise<number[]>;
  listClients(): Promise<Client[]>;
  /** The WABAs of a client, by id. */
  listWabas(clientId: number): Promise<Waba[]>;
  listCampaigns(clientId: number): Promise<Campaign[]>;
  /** All channels of the client, by id. */
  listChannels(clientId: number): Promise<Channel[]>;
  /** The client's channels among the given ids, without unknown ids. Ids are asked for in batches of 100. */
  findChannels(clientId: number, channelIds: readonly number[]): Promise<Channel[]>;
}

/**
 * The DID rule (D5): a DID of a WABA of the client is usable. Where the WABA keeps clients to their own DIDs, only the
 * client's own is.
 */
export function isUsableDid(found: Did | undefined, clientId: number): found is Did {
  const ofWaba = found?.waba.clientIds.includes(clientId) === true;
  return ofWaba && (found.waba.dids !== 'own' || found.channel.clientId === clientId);
}

/**
 * A DID that the client may use (D5). An unknown DID and a foreign one get the same refusal; `advice` ends its message.
 */
export function usableDid(found: Did | undefined, clientId: number, advice = ''): Did {
  if (isUsableDid(found, clientId)) return found;
  throw new Refusal('did_forbidden', `the did is outside the WABA hierarchy of the client${advice}`);
}
