import { expect, test } from 'vitest';
import type { Lot, Opening } from '../../../../lib/messages/dispatch/lots.ts';
import { outsideOf } from '../../../../lib/messages/send/recipient-openings.ts';
import { SliceRunWorld, startMs, templateScope } from '../sender/slice-run-world.ts';

/** Closed lots wait, and no recipient is called outside an opening (D56, R54). */

const hourMs = 3_600_000;
const dayMs = 86_400_000;
const openAt = (fromMs: number, untilMs: number): Opening => [startMs + fromMs, startMs + untilMs];
const lotOf = (until: number, ...open: Opening[]): Lot => ({ until, open });
const now = openAt(-hourMs, hourMs);
const tomorrow = openAt(dayMs, dayMs + hourMs);
const expired = { state: 'expired', code: 'expired' };
const again = (dueMs: number) => ({ state: 'again', dueMs });

test.each<[string, Opening[] | undefined, number | undefined, object | undefined]>([
  ['of a send without a time', undefined, undefined, undefined],
  ['in an opening', [now, tomorrow], undefined, undefined],
  ['at its first moment', [openAt(0, 5_001)], undefined, undefined],
  ['in its last five seconds', [openAt(-60_000, 5_000), tomorrow], undefined, again(startMs + dayMs)],
  ['at its end', [openAt(-1, 0), tomorrow], undefined, again(startMs + dayMs)],
  ['before it', [tomorrow], undefined, again(startMs + dayMs)],
  ['of which none is left', [openAt(-1, 0)], undefined, expired],
  ['that never opens', [], undefined, expired],
  ['that opens in the last moment of its time to live', [tomorrow], startMs + dayMs + 1, again(startMs + dayMs)],
  ['that opens at the end of its time to live', [tomorrow], startMs + dayMs, expired],
])('a call %s', (_, open, expiresAtMs, outcome) => {
  const lots = open && [lotOf(3, now), lotOf(10, ...open)];
  expect(outsideOf({ lots, expiresAtMs }, { index: 3 }, startMs)).toEqual(outcome);
});

function worldOf(size: number, ...lots: Lot[]): SliceRunWorld {
  const world = new SliceRunWorld();
  world.accept(size, { lots });
  return world;
}

test('what is closed is due when it opens, without a claim; what never opens ends at once', async () => {
  const world = worldOf(20, lotOf(10, tomorrow), lotOf(20));
  expect((await world.handOf('J')).nextDueMs(startMs)).toBeLessThanOrEqual(startMs);
  await world.run();
  expect([world.posted, world.outcome(0), world.outcome(10)]).toEqual([[], undefined, expired]);
  expect(world.events.sent.map(({ type }) => type)).toEqual(Array(10).fill('message.expired'));
  await world.wait(dayMs - 1);
  await world.run();
  expect(world.posted).toEqual([]);
  await world.wait(1);
  await world.run();
  expect(world.outcomes(10)).toEqual(Array(10).fill('sent'));
});

test('a slice in two lots: each recipient goes by its own', async () => {
  const world = worldOf(10, lotOf(3), lotOf(6, tomorrow), lotOf(10, now));
  await world.run();
  expect(world.posted.map(({ index }) => index)).toEqual([6, 7, 8, 9]);
  expect([0, 3].map((index) => world.outcome(index))).toEqual([expired, again(startMs + dayMs)]);
  // What another run finds ended until tomorrow is told at once: it may have died before it told it.
  const told = world.events.sent.length;
  expect(await world.run()).toMatchObject([{ isTold: true }]);
  expect([world.events.sent.length, world.posted.length]).toEqual([2 * told, 4]);
  await world.wait(dayMs);
  await world.run();
  expect(world.posted.map(({ index }) => index)).toEqual([6, 7, 8, 9, 3, 4, 5]);
});

test('what closes while it leaves goes on at the next opening', async () => {
  const world = worldOf(30, lotOf(30, openAt(-hourMs, 5_200), openAt(hourMs, 2 * hourMs)));
  await world.runAll();
  const times = world.posted.map(({ atMs }) => atMs - startMs);
  expect(times.filter((ms) => ms >= 200 && ms < hourMs)).toEqual([]);
  expect(times.filter((ms) => ms < 200).length).toBeGreaterThan(10);
  expect(times).toHaveLength(30);
});

test('no message asks whether a hold is over while it is closed (D46)', async () => {
  const world = worldOf(2, lotOf(1, tomorrow), lotOf(2, now));
  world.hold(templateScope, '132015', startMs - hourMs);
  await world.run();
  expect(world.posted.map(({ index }) => index)).toEqual([1]);
});
