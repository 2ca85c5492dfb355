import { Refusal } from '../http/refusal.ts';

/** How a DID is spelled. Other text names none, and may be too long even to be looked up (a key has 2,048 bytes). */
export const didPattern = /^\d{5,20}$/;

/** A channel: one business number (DID) of one client, on one WABA. */
export interface Channel {
  readonly channelId: number;
  readonly did: string;
  readonly clientId: number;
  readonly wabaId: string;
  readonly phoneNumberId: string;
  readonly name: string;
  /** Messages a second that the platform lets this number send (platform reference, 4.4). */
  readonly throughputPerSecond: number;
  /** The Messaging Account that sends from it, where the operator names one (platform reference, 8): known of a DID's channel. */
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
  /** Which of its channels such a client may use: those of any client of the WABA, or only its own (D5). */
  readonly dids: DidScope;
  /** For whom the platform's word that a person wants no marketing counts (D55): the number that it names, unless the operator widens it. */
  readonly platformStops?: PlatformStops;
  /** Its clients whose UTILITY messages heed opt-outs as well (D55). */
  readonly utilityStops?: readonly number[];
  /** What its clients may spend in a month (D58): known of a DID's WABA, for those who have a budget. */
  readonly monthlyBudgets?: readonly MonthlyBudget[];
  /** The platform app that tells what becomes of messages (D38): known of a DID's WABA, where there is one. */
  readonly appId?: string;
}

/** What a client may spend in a month of UTC (D58): at list prices, in dollars with up to eight decimals. */
export interface MonthlyBudget {
  readonly clientId: number;
  readonly amount: number;
  /** Sends above it are refused, but for one-time codes; otherwise the client is told and goes on. */
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

/** A DID with the WABA it belongs to: all that a DID-bearing endpoint needs, from one read. */
export interface Did {
  readonly channel: Channel;
  readonly waba: Waba;
}

/** Read side of the directory. Every method is one strongly consistent DynamoDB request (pages of a query apart). */
export interface Directory {
  /** Whether there is such a client. */
  hasClient(clientId: number): Promise<boolean>;
  /** The IANA zone that the operator gave the client (D56); undefined without. */
  zoneOfClient(clientId: number): Promise<string | undefined>;
  findClient(clientId: number): Promise<Client | undefined>;
  findDid(did: string): Promise<Did | undefined>;
  findUser(clientId: number, userId: string): Promise<UserProfile | undefined>;
  /** All clients, ascending. */
  listClientIds(): Promise<number[]>;
  /** The same with their names. */
  listClients(): Promise<Client[]>;
  /** The WABAs a client works with, by id. */
  listWabas(clientId: number): Promise<Waba[]>;
  listCampaigns(clientId: number): Promise<Campaign[]>;
  /** All channels of the client, by id. */
  listChannels(clientId: number): Promise<Channel[]>;
  /** Channels of the client among the given ids; unknown ids are left out. At most 100 ids a request, chunked. */
  findChannels(clientId: number, channelIds: readonly number[]): Promise<Channel[]>;
}

/**
 * The DID rule (D5): usable is a DID that is a channel of a WABA of the operating client; where the WABA keeps each
 * client to its own DIDs, only the client's own.
 */
export function isUsableDid(found: Did | undefined, clientId: number): found is Did {
  const ofWaba = found?.waba.clientIds.includes(clientId) === true;
  return ofWaba && (found.waba.dids !== 'own' || found.channel.clientId === clientId);
}

/** A DID that the client may use (D5). One that nobody has and one of somebody else are refused alike; `advice` ends the message. */
export function usableDid(found: Did | undefined, clientId: number, advice = ''): Did {
  if (isUsableDid(found, clientId)) return found;
  throw new Refusal('did_forbidden', `the did is outside the WABA hierarchy of the client${advice}`);
}
