import { beforeEach, expect, test } from 'vitest';
import type { ListedChannel, PlatformNumber } from '../../../lib/channels/channel.ts';
import { type ChannelStore, channelStore } from '../../../lib/channels/channel-store.ts';
import { channelRefresh, type RefreshPorts } from '../../../lib/channels/refresh.ts';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import { meterRequests } from '../../support/request-meter.ts';
import { clientsAtScale } from '../../support/scale.ts';
import { listAsDeleted, provisionChannels } from '../../support/scale-loading.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

const client = localDocumentClient();
// Client 1002 also has channels on the WABA of client 1001: the last ten.
const plain = clientsAtScale({ seed: 4, clients: 2, channelsEach: 130, campaignsEach: 0 });
const wabaId = '200000000000001';
const file = {
  ...plain,
  channels: plain.channels.map((channel, index) => (index < 140 ? { ...channel, waba_id: wabaId } : channel)),
};
const waba = { wabaId, credential: 'scale' };
const always = async () => true;

let table: string;
let store: ChannelStore;
let nowMs: number;
beforeEach(async () => {
  table = await freshTable('channels');
  await provision(file);
  store = channelStore(client, table);
  nowMs = 1_800_000_000_000;
});

const provision = (wanted: typeof file) => provisionChannels({ documentClient: client, tableName: table }, wanted);

/** Lists the numbers of the file's channels on the WABA and one more, a hundred a page; `live` gives their state. */
function numbers(live: (index: number) => PlatformNumber['live'], fail?: number): RefreshPorts['numbers'] {
  const all = file.channels.slice(0, 140).map(({ phone_number_id: phoneNumberId }, index) => ({
    phoneNumberId,
    live: live(index),
  }));
  const listed = [...all.slice(0, 50), { phoneNumberId: '1', live: { status: 'BANNED' } }, ...all.slice(50)];
  return {
    page: async (asked, after) => {
      const start = Number(after ?? 0);
      if (start === fail || asked.wabaId !== wabaId) throw new PlatformFailure('ambiguous');
      const rest = start + 100 < listed.length ? { after: String(start + 100) } : {};
      return { numbers: listed.slice(start, start + 100), ...rest };
    },
  };
}

const refresh = (of: RefreshPorts['numbers'], over: Partial<RefreshPorts> = {}) =>
  channelRefresh({ channels: store, numbers: of, nowMs: () => ++nowMs, ...over });
const green = () => ({ status: 'ACTIVE', qualityRating: 'GREEN' });
const withQuality = (channels: readonly ListedChannel[], quality: string) =>
  channels.filter(({ qualityRating }) => qualityRating === quality).length;

test("every client's channels on the WABA get what the platform says, and no other channel does", async () => {
  expect(await refresh(numbers(green))(waba, always)).toBe(140);
  expect(withQuality(await store.channelsOf(1001), 'GREEN')).toBe(130);
  expect(withQuality(await store.channelsOf(1002), 'GREEN')).toBe(10);
  expect((await store.channelsOf(undefined)).every(({ status }) => status === 'ACTIVE')).toBe(true);
});

test('nothing new: 1 query, 1 read a page, no write; one that differs: 1 write', async () => {
  await refresh(numbers(green))(waba, always);
  const metered = localDocumentClient();
  const meter = meterRequests(metered);
  const channels = channelStore(metered, table);
  expect(await refresh(numbers(green), { channels })(waba, always)).toBe(0);
  expect(meter.taken()).toMatchObject({ requests: 3, writes: 0 });
  const oneRed = numbers((index) => ({ ...green(), ...(index === 120 ? { qualityRating: 'RED' } : {}) }));
  expect(await refresh(oneRed, { channels })(waba, always)).toBe(1);
  expect(meter.taken()).toMatchObject({ requests: 4, writes: 1 });
});

test('a deleted channel, and one whose number has moved to another WABA or client, are not written for the old one', async () => {
  await listAsDeleted({ documentClient: client, tableName: table }, { clientId: 1001, waId: '5491100000001' });
  const moved = structuredClone(file);
  const [, second, third] = moved.channels;
  if (second === undefined || third === undefined) throw new Error('no channels');
  second.waba_id = '200000000000002';
  third.client_id = 1002;
  await provision(moved);
  await listAsDeleted({ documentClient: client, tableName: table }, { clientId: 1001, waId: '5491100000001' });
  await listAsDeleted({ documentClient: client, tableName: table }, { clientId: 1001, waId: '5491100000003' });
  expect(await refresh(numbers(green))(waba, always)).toBe(138);
  const both = [1001, 1002].flatMap((clientId) =>
    [1, 2, 3].map((index) => ({ clientId, waId: `549110000000${index}` })),
  );
  const refreshed = (await store.find(both)).filter(({ qualityRating }) => qualityRating === 'GREEN');
  expect(refreshed.map(({ clientId, waId }) => [clientId, waId])).toEqual([[1002, '5491100000003']]);
});

test('a channel that has got another number is written for the new one, even while the platform lists both', async () => {
  const renumbered = structuredClone(file);
  const [channel] = renumbered.channels;
  if (channel === undefined) throw new Error('no channels');
  channel.phone_number_id = '1';
  await provision(renumbered);
  await refresh(numbers(green))(waba, always);
  expect(await store.find([{ clientId: 1001, waId: '5491100000001' }])).toMatchObject([{ status: 'BANNED' }]);
});

test('a slower refresh does not undo a later reading', async () => {
  const red = numbers(() => ({ status: 'ACTIVE', qualityRating: 'RED' }));
  const slow = refresh({
    page: async (asked, after) => {
      const page = await red.page(asked, after);
      if (after === undefined) await refresh(numbers(green))(waba, always);
      return page;
    },
  });
  await slow(waba, always);
  // The slow WABA's second page was read last.
  const channels = await store.channelsOf(undefined);
  expect([withQuality(channels, 'GREEN'), withQuality(channels, 'RED')]).toEqual([99, 41]);
});

test('a failing page is passed on and keeps what was read; time that runs short ends it between pages', async () => {
  await expect(refresh(numbers(green, 100))(waba, always)).rejects.toMatchObject({ kind: 'ambiguous' });
  expect(withQuality(await store.channelsOf(undefined), 'GREEN')).toBe(99);
  let asked = 0;
  expect(await refresh(numbers(() => ({ qualityRating: 'RED' })))(waba, async () => ++asked < 2)).toBe(99);
});

test('a WABA without channels is not asked about', async () => {
  expect(await refresh(numbers(green))({ ...waba, wabaId: '7' }, always)).toBe(0);
});
