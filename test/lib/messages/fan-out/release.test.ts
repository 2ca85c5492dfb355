import { expect, test } from 'vitest';
import { releaseOf } from '../../../../lib/messages/fan-out/release.ts';
import { openingDelaySeconds } from '../../../../lib/messages/fan-out/release-horizon.ts';
import { reserve } from '../../../../lib/messages/pace/reserve.ts';
import { slotMsOf } from '../../../../lib/messages/pace/schedule.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { memoryPaces } from '../../../support/memory-numbers.ts';

const nowMs = 1_800_000_000_000;
const phoneNumberId = '300000000000001';
const head = makeDispatchHead({ dispatchId: 'J', total: 100_000 });

function portsOf(limitPerSecond: number, clock = { nowMs }) {
  return { paces: memoryPaces(), limitOf: async () => limitPerSecond, nowMs: () => clock.nowMs };
}

test.each([
  // A wave has whole turns for seven seconds at nine tenths of the limit, and 2,000 messages at most.
  [80, 510],
  [1, 10],
  [250, 1_590],
  [1_000, 1_980],
])('a wave of a number of %i a second has %i recipients', async (limitPerSecond, count) => {
  expect((await releaseOf(head, portsOf(limitPerSecond))).next()).toBe(count);
});

test.each([
  [80, 20_000, 10],
  [1, 222_222, 60],
  [0.05, 600_000, 60],
])(
  'of a number of %d a second waves are released for %i ms, and the next round comes after %i s',
  async (limitPerSecond, horizonMs, seconds) => {
    const release = await releaseOf(head, portsOf(limitPerSecond));
    for (let count = release.next(); count > 0; count = release.next()) await release.reserve(count);
    const chunkMs = 30 * release.everyMs();
    expect(release.lastMs() - nowMs).toBeGreaterThan(horizonMs - 2_000 - release.everyMs());
    expect(release.lastMs() - nowMs).toBeLessThan(horizonMs + chunkMs);
    expect(release.nextRoundSeconds).toBe(seconds);
  },
);

test('what is released already counts: a round that comes back early releases what has left meanwhile', async () => {
  const clock = { nowMs };
  const ports = portsOf(80, clock);
  const first = await releaseOf(head, ports);
  for (let count = first.next(); count > 0; count = first.next()) await first.reserve(count);
  const released = ports.paces.stored.get(phoneNumberId)?.schedule.nextPosition ?? 0;
  expect((await releaseOf(head, ports)).next()).toBe(0);
  clock.nowMs += 5_000;
  const second = await releaseOf(head, ports);
  expect(await second.reserve(second.next())).toBe(released);
});

test('beside three other clients a lane has a quarter, and releases what it has of the horizon', async () => {
  const ports = portsOf(80);
  for (const clientId of [7, 8, 9]) {
    const other = { phoneNumberId, clientId, lane: 'other', limitPerSecond: 80, count: 3_000 };
    await reserve(ports.paces, other, nowMs);
  }
  const release = await releaseOf(head, ports);
  expect(release.next()).toBe(360);
  const position = await release.reserve(360);
  const slotMs = (at: number) => slotMsOf(release.schedule(), { ...release.lane, position: position + at }) ?? 0;
  // The lane goes in front once the schedule may be changed and the running turn is over.
  expect(slotMs(0) - nowMs).toBeLessThan(1_000 + 30 * release.everyMs());
  expect(slotMs(359)).toBe(release.lastMs());
  expect(Math.abs(slotMs(359) - nowMs - 20_000)).toBeLessThan(2_000);
  expect(release.next()).toBe(0);
});

test.each([
  [1, 0, 1],
  [899_001, 0, 900],
  [60_000, 0.999, 65],
  // The spread does not fit below the queue's longest delay, so the delay ends at that limit or slightly earlier.
  [897_000, 0.999, 841],
  [86_400_000, 0, 900],
  [86_400_000, 0.5, 870],
  [0, 0, 1],
])(
  'a dispatch that opens in %i ms comes again after that, and a little apart from others (%d): %i s',
  (leftMs, random, seconds) => {
    expect(openingDelaySeconds(5_000 + leftMs, 5_000, random)).toBe(seconds);
  },
);
