import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Outcome, Slice } from '../../../../lib/messages/dispatch/slice.ts';
import {
  recipientsPerPartition,
  sliceItemOf,
  sliceKeyOf,
  sliceOfItem,
  sliceOfSortKey,
  slicePartition,
} from '../../../../lib/messages/dispatch/slice-items.ts';

const key = { dispatchId: '01JD0000000000000000000000', slice: 1 };
const facts = { version: 3, try: 2, owner: 'run-1', atMs: 1_800_000_000_000, state: 'ended' } as const;
const packed = (outcomes: unknown) => ({ ...facts, outcomes: deflateRawSync(JSON.stringify(outcomes)) });

test.each([
  [0, 'DISPATCH#J#0', 'SLICE#0000'],
  [99, 'DISPATCH#J#0', 'SLICE#0099'],
  [100, 'DISPATCH#J#1', 'SLICE#0100'],
  [999, 'DISPATCH#J#9', 'SLICE#0999'],
])('slice %i stands in partition %s, a hundred of them in each, as %s', (slice, pk, sk) => {
  expect(sliceKeyOf({ dispatchId: 'J', slice })).toEqual({ pk, sk });
  expect(sliceOfSortKey(sk)).toBe(slice);
  expect(slicePartition('J', Math.floor((slice * 10) / recipientsPerPartition))).toBe(pk);
});

test('what is packed is unpacked as it was, with all that may be known', () => {
  const outcomes = [
    { state: 'failed', code: '131026', reason: 'Not on WhatsApp', resolvedAtMs: 5 },
    { state: 'expired', code: 'expired', resolvedAtMs: 6 },
    { state: 'sent', platformMessageId: 'wamid.1', held: 'paused', code: 'receipt', resolvedAtMs: 7 },
    { state: 'again', dueMs: 8, refused: true },
    { state: 'again', dueMs: 9 },
    undefined,
  ] as const;
  const slice: Slice = { key, ...facts, calls: 5, outcomes };
  expect(sliceOfItem(key, sliceItemOf(slice))).toEqual(slice);
});

test('what is not known takes no room at the end', () => {
  const outcomes = [
    { state: 'sent', platformMessageId: 'w' },
    { state: 'sent', code: 'receipt' },
    { state: 'failed', code: '131026' },
  ] as const;
  const { outcomes: bytes } = sliceItemOf({ key, ...facts, outcomes });
  expect(JSON.parse(String(inflateRawSync(bytes)))).toEqual([
    ['s', 'w'],
    ['s', null, null, 'receipt'],
    ['f', '131026'],
  ]);
});

test('what later versions may know beside is passed over (D47)', () => {
  const outcomes = [
    ['s', 'wamid.1', null, null, null, 'more'],
    ['a', 7, null, 'more'],
  ];
  const item = { ...packed(outcomes), more: 1 };
  expect(sliceOfItem(key, item).outcomes).toEqual([
    { state: 'sent', platformMessageId: 'wamid.1' },
    { state: 'again', dueMs: 7 },
  ]);
});

test.each([
  {},
  { ...facts, outcomes: 'text' },
  { ...facts, outcomes: new Uint8Array([1, 2, 3]) },
  { ...packed([null]), state: 'lost' },
  packed(7),
  packed(['s']),
  packed([['q', 'code']]),
  packed([['f']]),
  packed([['a', 'later']]),
])('what is no slice is not taken for one that can be had: %j', (item) => {
  expect(() => sliceOfItem(key, item)).toThrow();
});

test('outcomes unpack to what ten messages may say, and not to what fills the memory', () => {
  const ten = (length: number) => packed(Array.from({ length: 10 }, () => ['f', '131026', 'x'.repeat(length)]));
  expect(sliceOfItem(key, ten(1_000)).outcomes).toHaveLength(10);
  expect(() => sliceOfItem(key, ten(20_000))).toThrow();
});

test('ten sent messages are one write unit, with the platform’s ids of 80 characters', () => {
  const sent = Array.from({ length: 10 }, (_, place): Outcome => {
    const noise = Array.from({ length: 60 }, (_, at) => ((place * 7_919 + at * 104_729) % 36).toString(36)).join('');
    return { state: 'sent', platformMessageId: `wamid.HBgNNTQ5MTE1${noise}` };
  });
  const owner = `${'0'.repeat(36)} ${'1'.repeat(36)}`;
  const { outcomes: bytes, ...rest } = sliceItemOf({ key, ...facts, owner, calls: 10, outcomes: sent });
  expect(bytes.byteLength + JSON.stringify(rest).length + 80).toBeLessThan(1_024);
});
