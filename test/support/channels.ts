import type { ListedChannel } from '../../lib/channels/channel.ts';
import { firstAttributes, listedChannelKey, liveText, provisionedAttributes } from '../../lib/channels/channel-item.ts';
import type { ChannelStore } from '../../lib/channels/channel-store.ts';

/** Makes a channel as it is after provisioning and before any synchronization. */
export function makeListedChannel(overrides: Partial<ListedChannel> = {}): ListedChannel {
  return {
    clientId: 1001,
    waId: '5491100000001',
    channelId: 501,
    clientName: 'Andes Retail',
    wabaId: '200000000000001',
    wabaName: 'Shared WABA',
    businessId: '400000000000001',
    businessName: 'Andes Holding',
    phoneNumberId: '300000000000001',
    status: 'ACTIVE',
    createdAt: '2026-11-20T12:00:00.000Z',
    createdBy: 'provisioning',
    deleted: false,
    ...overrides,
  };
}

/** Keeps channels in memory, for tests that read the channels of a number or a WABA. */
export function memoryChannels(
  listed: readonly ListedChannel[],
): Pick<ChannelStore, 'findNumber' | 'numbersOf' | 'find'> {
  return {
    findNumber: async (wabaId, phoneNumberId) =>
      listed.find((each) => each.wabaId === wabaId && each.phoneNumberId === phoneNumberId && !each.deleted),
    numbersOf: async (wabaId) => listed.filter((each) => each.wabaId === wabaId),
    find: async (channels) =>
      listed.filter(({ clientId, waId }) => channels.some((each) => each.clientId === clientId && each.waId === waId)),
  };
}

/** Returns the item of a channel after provisioning, refreshes and removal. */
export function storedChannel(channel: ListedChannel): Record<string, unknown> {
  return {
    ...listedChannelKey(channel.clientId, channel.waId),
    ...firstAttributes(channel.createdAt),
    ...provisionedAttributes(channel),
    ...(channel.qualityRating === undefined ? {} : { l: liveText(channel) }),
    g: channel.deleted,
    r: channel.throughputLevel,
  };
}

/** Makes channels of many clients with all fields; one in fifty is deleted. */
export function channelsAtScale(count: number, clientOf: (index: number) => number): ListedChannel[] {
  return Array.from({ length: count }, (_, index) => {
    const clientId = clientOf(index);
    return makeListedChannel({
      clientId,
      waId: String(5_491_100_000_000 + index),
      clientName: `Retail house ${clientId}`,
      wabaId: String(200_000_000_000_000 + (index % 400)),
      wabaName: `WABA number ${index % 400}`,
      businessId: String(400_000_000_000_000 + (index % 90)),
      businessName: `Holding company ${index % 90}`,
      phoneNumberId: String(300_000_000_000_000 + index),
      name: `Sales ${index}`,
      status: index % 7 === 0 ? 'RESTRICTED' : 'ACTIVE',
      deleted: index % 50 === 0,
      currentLimit: 'TIER_100K',
      qualityRating: 'GREEN',
      isOnBizApp: false,
      phoneCode: '54',
      phoneNumber: String(91_100_000_000 + index),
      registeredAt: '2026-03-02T14:00:00.000Z',
      externalWebhook: `https://client-${clientId}.example.com/inbound/messages`,
    });
  });
}
