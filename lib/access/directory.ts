import { Refusal } from '../http/refusal.ts';

/** A DID has this spelling. Other text is never looked up: DynamoDB refuses keys over 2,048 bytes. */
export const didPattern = /^\d{5,20}$/;

/** A channel is one business number (DID) of one client, on one WABA. */
export interface Channel {
  readonly channelId: number;
  readonly did: string;
  readonly clientId: number;
  readonly wabaId: string;
  readonly phoneNumberId: string;
  readonly name: string;
  /** The platform limits this number in messages a second (platform reference, 4.4). */
  readonly throughputPerSecond: number;
  /**
   * The operator may name the Messaging Account that sends from it (platform reference, 8). Only the channel of a `Did`
   * has it.
   */
  readonly messagingAccountId?: string;
}

export interface Waba {
  readonly wabaId: string;
  readonly name: string;
  readonly namespace: string;
  /** The name is that of the entry in the platform-credentials secret. */
  readonly credential: string;
  /** These clients work with the WABA, ascending. */
  readonly clientIds: readonly number[];
  /** A client may use every DID of the WABA, or only its own (D5). */
  readonly dids: DidScope;
  /** An opt-out that the platform reports counts for its number, or for the WABA if the operator widens it (D55). */
  readonly platformStops?: PlatformStops;
  /** UTILITY messages of these clients heed opt-outs as well (D55). */
  readonly utilityStops?: readonly number[];
  /** Only the WABA of a `Did` has the budgets of its clients (D58). */
  readonly monthlyBudgets?: readonly MonthlyBudget[];
  /** Only the WABA of a `Did` has the app that delivers receipts, if there is one (D38). */
  readonly appId?: string;
}

/** A client may spend it in a month of UTC (D58): at list prices, in dollars with up to eight decimals. */
export interface MonthlyBudget {
  readonly clientId: number;
  readonly amount: number;
  /** True refuses sends above the amount, except one-time codes; false only tells the client. */
  readonly stop: boolean;
}

export type DidScope = 'waba' | 'own';

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

/** An endpoint with a DID needs no more than this one read. */
export interface Did {
  readonly channel: Channel;
  readonly waba: Waba;
}

/** Every method is one strongly consistent DynamoDB request (pages of a query apart). */
export interface Directory {
  hasClient(clientId: number): Promise<boolean>;
  /** Returns the IANA zone that the operator gave the client (D56), or undefined. */
  zoneOfClient(clientId: number): Promise<string | undefined>;
  findClient(clientId: number): Promise<Client | undefined>;
  findDid(did: string): Promise<Did | undefined>;
  findUser(clientId: number, userId: string): Promise<UserProfile | undefined>;
  /** Returns all clients, ascending. */
  listClientIds(): Promise<number[]>;
  listClients(): Promise<Client[]>;
  /** Returns the WABAs of a client, by id. */
  listWabas(clientId: number): Promise<Waba[]>;
  listCampaigns(clientId: number): Promise<Campaign[]>;
  /** Returns all channels of the client, by id. */
  listChannels(clientId: number): Promise<Channel[]>;
  /** Returns the client's channels among the given ids, without unknown ids. Ids are asked for in batches of 100. */
  findChannels(clientId: number, channelIds: readonly number[]): Promise<Channel[]>;
}

/**
 * Tells whether a client may use a DID (D5): it is of a WABA of the client and, where the WABA keeps clients to their
 * own DIDs, the client's own.
 */
export function isUsableDid(found: Did | undefined, clientId: number): found is Did {
  const ofWaba = found?.waba.clientIds.includes(clientId) === true;
  return ofWaba && (found.waba.dids !== 'own' || found.channel.clientId === clientId);
}

/** Returns the client that alone may use the DID (D5); undefined where several may, or none. */
export function onlyClientOf(did: Did): number | undefined {
  const [only, ...others] = did.waba.clientIds.filter((clientId) => isUsableDid(did, clientId));
  return others.length === 0 ? only : undefined;
}

/**
 * Returns a DID that the client may use (D5). An unknown DID and a foreign one get the same refusal; `advice` ends its
 * message.
 */
export function usableDid(found: Did | undefined, clientId: number, advice = ''): Did {
  if (isUsableDid(found, clientId)) return found;
  throw new Refusal('did_forbidden', `the did is outside the WABA hierarchy of the client${advice}`);
}
