import { expect, test } from 'vitest';
import { inReviewCode, opened } from '../../../../lib/messages/holds/hold.ts';
import { endedByReading } from '../../../../lib/messages/holds/hold-ends.ts';
import { failingWith, type SliceRunWorld, startMs, templateScope, wabaId, worldOf } from './slice-run-world.ts';

/** A template that is not there is probably in review: its messages wait for a reading, and are judged again (D46). */

const isApproved = (world: SliceRunWorld) =>
  world.rule(endedByReading(templateScope, world.holds.of(wabaId).holds[templateScope]?.sinceMs ?? 0, world.nowMs));
const notThere = failingWith('refused', { httpStatus: 404, code: 132001 });

test('what it refuses waits for a reading, and is judged again before it leaves', async () => {
  const world = worldOf(2);
  world.send = notThere;
  await world.run();
  expect([world.outcomes(2), world.holds.of(wabaId).holds[templateScope]?.code]).toEqual([
    ['again', 'again'],
    inReviewCode,
  ]);
  await world.wait(20_000);
  isApproved(world);
  world.send = async () => ({});
  const { length } = world.posted;
  // This run took the dispatch in hand before the reading: it makes no call with what was composed before.
  await world.run();
  expect(world.posted).toHaveLength(length);
  world.judged = { judgedMs: world.nowMs };
  await world.run();
  expect(world.outcomes(2)).toEqual(['sent', 'sent']);
});

test('not even a probe of another hold leaves as it was composed before the review', async () => {
  const world = worldOf(2);
  world.rule(opened(templateScope, { code: inReviewCode, nowMs: startMs, byReading: true }));
  await world.wait(20_000);
  isApproved(world);
  world.hold('waba', '131042', startMs - 60_000);
  await world.run();
  expect([world.posted, world.count('askHolds')]).toEqual([[], 0]);
});

test('what is refused again after a reading fails', async () => {
  const world = worldOf(1);
  world.send = notThere;
  await world.run();
  await world.wait(20_000);
  isApproved(world);
  world.judged = { judgedMs: world.nowMs };
  await world.run();
  expect([world.posted.length, world.outcomes(1)]).toEqual([2, ['132001']]);
});
