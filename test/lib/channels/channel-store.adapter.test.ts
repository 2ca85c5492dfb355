import { beforeEach, expect, test } from 'vitest';
import type { ListedChannel } from '../../../lib/channels/channel.ts';
import { type ChannelStore, channelStore } from '../../../lib/channels/channel-store.ts';
import { clientsAtScale } from '../../support/scale.ts';
import { listAsDeleted, provisionChannels } from '../../support/scale-loading.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

const client = localDocumentClient();
const file = clientsAtScale({ seed: 3, clients: 3, channelsEach: 120, campaignsEach: 0 });
let store: ChannelStore;
let tableName: string;
beforeEach(async () => {
  tableName = await freshTable('channels');
  await provisionChannels({ documentClient: client, tableName }, file);
  store = channelStore(client, tableName);
});

const didsOf = (clientId?: number) =>
  file.channels.flatMap(({ did, client_id }) => (clientId === undefined || clientId === client_id ? [did] : [])).sort();
const waIds = (channels: readonly { waId: string }[]) => channels.map(({ waId }) => waId).sort();

async function first() {
  const [channel] = await store.find([{ clientId: 1001, waId: '5491100000001' }]);
  if (channel === undefined) throw new Error('no channel');
  return channel;
}

test('channels of one client, of all, of an unknown one', async () => {
  expect(waIds(await store.channelsOf(1002))).toEqual(didsOf(1002));
  expect(waIds(await store.channelsOf(undefined))).toEqual(didsOf());
  expect(await store.channelsOf(100)).toEqual([]);
});

test("a WABA's numbers lead to their channels, more than a hundred of them too", async () => {
  const numbers = await store.numbersOf('200000000000002');
  expect(waIds(numbers)).toEqual(didsOf(1002));
  expect(waIds(await store.find(numbers))).toEqual(didsOf(1002));
  expect(await store.find([{ clientId: 1001, waId: '5491100000121' }])).toEqual([]);
});

test('a number leads to its channel with its live values, unless that is gone or is another number now', async () => {
  const channel = await first();
  await store.writeLive(channel, { status: 'ACTIVE', throughputLevel: 'HIGH', isOnBizApp: true }, 1_000);
  const found = () => store.findNumber(channel.wabaId, channel.phoneNumberId);
  expect(await found()).toMatchObject({ waId: channel.waId, throughputLevel: 'HIGH', isOnBizApp: true });
  expect(await store.findNumber(channel.wabaId, '1')).toBeUndefined();
  await listAsDeleted({ documentClient: client, tableName }, channel);
  expect(await found()).toBeUndefined();
});

test('live values are written and taken away; what provisioning knows stays', async () => {
  const channel = await first();
  const live = { status: 'BANNED', qualityRating: 'RED', isOnBizApp: false, phoneCode: '54' };
  expect(await store.writeLive(channel, live, 1_000)).toBe(true);
  expect(await first()).toEqual({ ...channel, ...live });
  expect(await store.writeLive(channel, { status: 'ACTIVE' }, 2_000)).toBe(true);
  expect(await first()).toEqual(channel);
});

test('an older reading, other facts, a deleted or missing channel: nothing is written', async () => {
  const channel = await first();
  const write = (quality: string, readAtMs: number, over: Partial<ListedChannel> = {}) =>
    store.writeLive({ ...channel, ...over }, { status: 'ACTIVE', qualityRating: quality }, readAtMs);
  expect(await write('GREEN', 2_000)).toBe(true);
  expect(await write('RED', 1_999)).toBe(false);
  expect(await write('RED', 3_000, { phoneNumberId: '1' })).toBe(false);
  expect(await write('RED', 3_000, { wabaId: '1' })).toBe(false);
  expect(await write('RED', 3_000, { clientId: 7 })).toBe(false);
  await listAsDeleted({ documentClient: client, tableName }, channel);
  expect(await write('RED', 3_000)).toBe(false);
  expect(await first()).toEqual({ ...channel, qualityRating: 'GREEN', deleted: true });
  expect(await store.channelsOf(7)).toEqual([]);
});
