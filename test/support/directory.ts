import type { Campaign, Channel, Directory, UserProfile, Waba } from '../../lib/access/directory.ts';

/** Keeps a directory in memory, for tests that read it. */
export function memoryDirectory(content: {
  readonly wabas?: readonly Waba[];
  readonly channels?: readonly Channel[];
  readonly campaigns?: readonly Campaign[];
  readonly users?: readonly UserProfile[];
  readonly clientIds?: readonly number[];
  readonly clientZones?: ReadonlyMap<number, string>;
}): Directory {
  const { wabas = [], channels = [], campaigns = [], users = [], clientIds = [], clientZones } = content;
  return {
    hasClient: async (clientId) =>
      clientIds.includes(clientId) || wabas.some((waba) => waba.clientIds.includes(clientId)),
    zoneOfClient: async (clientId) => clientZones?.get(clientId),
    findClient: async (clientId) =>
      clientIds.includes(clientId) ? { clientId, name: `Client ${clientId}` } : undefined,
    findDid: async (did) => {
      const channel = channels.find((candidate) => candidate.did === did);
      const waba = wabas.find((candidate) => candidate.wabaId === channel?.wabaId);
      return channel === undefined || waba === undefined ? undefined : { channel, waba };
    },
    findUser: async (clientId, userId) => users.find((user) => user.clientId === clientId && user.userId === userId),
    listClientIds: async () => clientIds.toSorted((a, b) => a - b),
    listClients: async () =>
      clientIds.toSorted((a, b) => a - b).map((clientId) => ({ clientId, name: `Client ${clientId}` })),
    listWabas: async (clientId) => wabas.filter((waba) => waba.clientIds.includes(clientId)),
    listCampaigns: async (clientId) => campaigns.filter((campaign) => campaign.clientId === clientId),
    listChannels: async (clientId) => channels.filter((channel) => channel.clientId === clientId),
    findChannels: async (clientId, channelIds) =>
      channels.filter((channel) => channel.clientId === clientId && channelIds.includes(channel.channelId)),
  };
}

export function makeWaba(overrides: Partial<Waba> = {}): Waba {
  return {
    wabaId: '200000000000001',
    name: 'Andes',
    namespace: 'ns_andes',
    credential: 'demo',
    clientIds: [1001, 1002],
    dids: 'waba',
    ...overrides,
  };
}

export function makeChannel(overrides: Partial<Channel> = {}): Channel {
  return {
    channelId: 501,
    did: '5491100000001',
    clientId: 1001,
    wabaId: '200000000000001',
    phoneNumberId: '300000000000001',
    name: 'Main line',
    throughputPerSecond: 1_000,
    ...overrides,
  };
}
