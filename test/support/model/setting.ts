/* Clients 1001 and 1002 share the first WABA, 1002 and 1003 the second, so that 1001 and 1003 share none. */

export const clientIds = [1001, 1002, 1003] as const;
export type ClientId = (typeof clientIds)[number];

export const wabas: readonly { readonly wabaId: string; readonly clientIds: readonly ClientId[] }[] = [
  { wabaId: '200000000000001', clientIds: [1001, 1002] },
  { wabaId: '200000000000002', clientIds: [1002, 1003] },
];

export const clientsOf = (wabaId: string): readonly ClientId[] =>
  wabas.find((waba) => waba.wabaId === wabaId)?.clientIds ?? [];

interface ChannelSetting {
  readonly channelId: number;
  readonly clientId: ClientId;
  readonly wabaId: string;
  readonly did: string;
  /** A channel without a name is not shown. */
  readonly name: string;
}

export const channels: readonly ChannelSetting[] = [
  { channelId: 501, clientId: 1001, wabaId: '200000000000001', did: '5491100000501', name: 'Sales' },
  { channelId: 505, clientId: 1001, wabaId: '200000000000001', did: '5491100000505', name: '' },
  { channelId: 502, clientId: 1002, wabaId: '200000000000001', did: '5491100000502', name: 'Clinic' },
  { channelId: 504, clientId: 1002, wabaId: '200000000000002', did: '5491100000504', name: 'Clinic abroad' },
  { channelId: 506, clientId: 1002, wabaId: '200000000000001', did: '5491100000506', name: 'Clinic desk' },
  { channelId: 503, clientId: 1003, wabaId: '200000000000002', did: '5491100000503', name: 'Desk' },
];

/** Every client has campaigns with these ids, under names of its own. */
export const campaignIds = [10, 11] as const;
export const campaignName = (clientId: number, campaignId: number) => `Campaign ${campaignId} of ${clientId}`;

/** The user without BSP_CN of each client has this single campaign. */
export const campaignOfUser = 10;

/** A slot is a place for a template: a name in a language on a WABA. */
export interface Slot {
  readonly wabaId: string;
  readonly name: string;
  readonly language: string;
}

/** One name is in two languages, and the same name is on both WABAs. */
export const slots: readonly [Slot, Slot, Slot, Slot] = [
  { wabaId: '200000000000001', name: 'welcome', language: 'en_US' },
  { wabaId: '200000000000001', name: 'welcome', language: 'es' },
  { wabaId: '200000000000001', name: 'order_update', language: 'en_US' },
  { wabaId: '200000000000002', name: 'welcome', language: 'en_US' },
];

export const slotKey = ({ wabaId, name, language }: Slot) => `${wabaId} ${name} ${language}`;

/** A word in capitals sets the result of the simulator's review. */
export const texts = [
  'Your order has left our house.',
  'Your order has arrived.',
  'Good to have you here. REVIEW_NOW',
  'Send us your money. REJECT_SCAM',
  'Send us your money now. REVIEW_NOW REJECT_SCAM',
] as const;

export interface Pair {
  readonly channelId: number;
  readonly campaignId: number;
}

export const samePair = (a: Pair | undefined, b: Pair | undefined) =>
  a?.channelId === b?.channelId && a?.campaignId === b?.campaignId;

/** Keeps each pair once, in the order of its first mention. */
export const eachPairOnce = (pairs: readonly Pair[]) =>
  pairs.filter((pair, index) => pairs.findIndex((other) => samePair(other, pair)) === index);
