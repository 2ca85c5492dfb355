import { expect, test } from 'vitest';
import {
  endedByReading,
  type HoldRule,
  inReviewCode,
  madeMarketing,
  opened,
} from '../../../../lib/messages/holds/hold.ts';
import type { ChunkWorkerPorts } from '../../../../lib/messages/send/chunk-ports.ts';
import { recordOptOut } from '../../../../lib/opt-outs/record-opt-out.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { ChunkRunWorld, chunkOf, recipientAt, slicesOf, startMs } from './chunk-run-world.ts';

/** A template that goes into review holds its messages without a call, and they are judged again afterwards (D46). */

const scope = 'template:order_update/en_US';
const { wabaId, clientId } = chunkOf([]);

function rule(world: ChunkRunWorld, next: HoldRule): void {
  world.holds.stored.set(wabaId, next(world.holds.of(wabaId)));
}

const goesIntoReview = (world: ChunkRunWorld) =>
  rule(world, opened(scope, { code: inReviewCode, nowMs: world.nowMs, byReading: true }));
const isApproved = (world: ChunkRunWorld) =>
  rule(world, endedByReading(scope, world.holds.of(wabaId).holds[scope]?.sinceMs ?? 0, world.nowMs));

test('all of it waits without a call, however long, and is judged once before it leaves', async () => {
  const world = new ChunkRunWorld();
  goesIntoReview(world);
  let chunk = chunkOf(slicesOf(30));
  for (let times = 0; times < 10; times += 1) {
    await world.work([chunk]);
    const [later] = world.requeued.splice(0);
    if (later === undefined) throw new Error('it is not queued again');
    await world.wait(later.delaySeconds * 1_000);
    chunk = later.chunk;
  }
  expect(world.posted).toEqual([]);
  isApproved(world);
  let judged = 0;
  const judgeAgain: ChunkWorkerPorts['judgeAgain'] = async (old) => {
    judged += 1;
    return { kind: 'sendable', chunk: { ...old, composedMs: world.nowMs } };
  };
  await world.workAll(chunk, { judgeAgain });
  expect([judged, world.outcomes(30).every((state) => state === 'sent'), world.posted.length]).toEqual([1, true, 30]);
});

test('what its new template refuses ends so, without a call', async () => {
  const world = new ChunkRunWorld();
  await world.wait(1_000);
  goesIntoReview(world);
  isApproved(world);
  const stop = { state: 'failed', code: 'template_changed', reason: 'why' } as const;
  await world.workAll(chunkOf(slicesOf(3)), { judgeAgain: async () => ({ kind: 'refused', stop }) });
  expect([world.posted, world.outcome(0)]).toMatchObject([[], stop]);
});

test('a chunk that may probe another hold is judged again whole: none of its messages is called twice', async () => {
  const world = new ChunkRunWorld();
  await world.wait(1_000);
  goesIntoReview(world);
  isApproved(world);
  world.hold('waba', '131042', startMs - 60_000);
  await world.work([chunkOf(slicesOf(30))]);
  expect(world.requeued.map(({ chunk }) => chunk.slices.length)).toEqual([3]);
});

test('a message refused by 132001 waits with the others, leaves after a reading, and fails if that is answered again', async () => {
  const world = new ChunkRunWorld();
  let refusing = true;
  world.send = async () => {
    if (refusing) throw new PlatformFailure('refused', { httpStatus: 404, code: 132001 });
    return {};
  };
  await world.work([chunkOf(slicesOf(2))]);
  expect([world.outcomes(2), world.holds.of(wabaId).holds[scope]?.code]).toEqual([['again', 'again'], inReviewCode]);
  isApproved(world);
  const [{ chunk } = { chunk: chunkOf([]) }] = world.requeued.splice(0);
  refusing = false;
  await world.workAll(chunk);
  expect(world.outcomes(2)).toEqual(['sent', 'sent']);

  const never = new ChunkRunWorld();
  never.send = async () => Promise.reject(new PlatformFailure('refused', { httpStatus: 404, code: 132001 }));
  await never.work([chunkOf(slicesOf(1))]);
  isApproved(never);
  const [again = { chunk: chunkOf([]) }] = never.requeued.splice(0);
  await never.workAll(again.chunk);
  expect(never.outcome(0)).toMatchObject({ state: 'failed', code: '132001' });
});

test('accepted as UTILITY, and MARKETING by the word of the platform since: people who have opted out are not called (D42)', async () => {
  const world = new ChunkRunWorld();
  const word = { says: 'stopped', atMs: startMs, source: 'reply' } as const;
  const stopped = recipientAt(1).to;
  await recordOptOut({ scope: { kind: 'client', clientId }, recipients: [stopped], word }, world.optOuts.writer());
  await world.work([chunkOf(slicesOf(2), { category: 'UTILITY', dispatchId: 'U' })]);
  expect(world.outcomes(2, 'U')).toEqual(['sent', 'sent']);
  rule(world, madeMarketing(scope, world.nowMs));
  await world.work([chunkOf(slicesOf(2), { category: 'UTILITY' })]);
  expect([world.outcome(0)?.state, world.outcome(1)]).toMatchObject(['sent', { state: 'failed', code: 'opted_out' }]);
});
