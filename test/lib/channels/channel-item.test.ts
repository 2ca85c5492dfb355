import { expect, test } from 'vitest';
import {
  changedLive,
  channelFromItem,
  channelShards,
  clientPrefix,
  listedChannelKey,
  shardPartitions,
} from '../../../lib/channels/channel-item.ts';
import { channelsAtScale, makeListedChannel, storedChannel } from '../../support/channels.ts';

const [full] = channelsAtScale(1, () => 1001);
const bare = makeListedChannel();

test('what is stored is read back, with and without what the platform says', () => {
  for (const channel of [full, bare]) expect(channelFromItem(storedChannel(channel ?? bare))).toEqual(channel);
});

test('an item that is no channel is refused', () => {
  expect(() => channelFromItem({ ...storedChannel(bare), g: undefined })).toThrow('Expected boolean');
  expect(() => channelFromItem({ ...storedChannel(bare), n: undefined })).toThrow('Expected string');
  expect(() => channelFromItem({ ...storedChannel(bare), f: '["x"]' })).toThrow('Invalid');
  expect(() => channelFromItem({ ...storedChannel(bare), sk: 'x#1' })).toThrow('Invalid format');
});

test('a full channel takes about 350 bytes, so that 50,000 in 32 shards are one page of 1 MB each, with room to grow', () => {
  const bytes = Buffer.byteLength(
    Object.entries(storedChannel(full ?? bare))
      .flat()
      .join(''),
  );
  expect(bytes).toBeLessThan(450);
  expect((50_000 / channelShards) * bytes).toBeLessThan(700_000);
});

test('DIDs spread evenly over the shards, also those in a row or in steps', () => {
  for (const step of [1, 32, 100, 1_000]) {
    const sizes = new Map(shardPartitions().map((shard) => [shard, 0]));
    for (let index = 0; index < 50_000; index += 1) {
      const { pk } = listedChannelKey(1001, String(5_491_100_000_000 + index * step));
      sizes.set(pk, (sizes.get(pk) ?? 0) + 1);
    }
    expect(sizes.size).toBe(channelShards);
    expect(Math.max(...sizes.values())).toBeLessThan((1.2 * 50_000) / channelShards);
  }
});

test("a client's prefix begins the keys of its own channels only", () => {
  const { sk } = listedChannelKey(1001, '5491100000001');
  expect(sk.startsWith(clientPrefix(1001))).toBe(true);
  for (const other of [1, 10, 100, 10_010, 11]) expect(sk.startsWith(clientPrefix(other))).toBe(false);
});

test.each([
  ['nothing is new', { status: 'ACTIVE' }, undefined],
  ['all is new', { status: 'BANNED', qualityRating: 'RED' }, { status: 'BANNED', qualityRating: 'RED' }],
  ['false is a value', { status: 'ACTIVE', isOnBizApp: false }, { status: 'ACTIVE', isOnBizApp: false }],
  ['another throughput', { throughputLevel: 'HIGH' }, { status: 'ACTIVE', throughputLevel: 'HIGH' }],
  ['no status is told, the old one stays', {}, undefined],
])('%s', (_, told, live) => {
  expect(changedLive(bare, told)).toEqual(live);
});

test('a value that is told no more is taken away; a channel always has a status', () => {
  const live = changedLive({ ...bare, status: 'BANNED', currentLimit: 'TIER_1K' }, { qualityRating: 'RED' });
  expect(live).toEqual({ status: 'BANNED', qualityRating: 'RED' });
});
