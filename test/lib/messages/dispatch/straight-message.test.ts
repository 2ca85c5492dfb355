import { beforeEach, expect, test } from 'vitest';
import { claimLifeMs } from '../../../../lib/messages/dispatch/claim.ts';
import { dispatchBatch } from '../../../../lib/messages/dispatch/dispatch.ts';
import type { DispatchPorts } from '../../../../lib/messages/dispatch/dispatch-ports.ts';
import { cancelled, type JobState } from '../../../../lib/messages/job-state.ts';
import { dispatchMessage, startMs } from '../../../faults/scenario-job.ts';
import { DispatchWorld, deliveryOf } from '../../../support/dispatch-ports.ts';

/* A message that acceptance has queued itself: nothing follows from it before its job has begun (D25). Every history of it is in
 * straight-message-explorer.test.ts. */

const key = { jobId: 'J', index: 0 };
const straight = dispatchMessage(0, {
  ...{ straight: true, alone: true },
  ...{ expiresAtMs: startMs + 10 * claimLifeMs },
});

class StraightWorld extends DispatchWorld {
  state: JobState = {};
  withdrawn = false;
  begins = 0;

  async run(message: object = straight, changes: Partial<DispatchPorts> = {}): Promise<string[]> {
    return await dispatchBatch(
      [deliveryOf(message)],
      this.ports({
        jobStates: { of: async (jobIds) => new Map(jobIds.map((jobId) => [jobId, this.state])) },
        straightJobs: {
          begin: async () => {
            this.begins += 1;
            return this.withdrawn ? 'withdrawn' : 'begun';
          },
        },
        ...changes,
      }),
    );
  }

  get told(): string[] {
    return this.events.sent.map(({ type }) => type);
  }
}

let world: StraightWorld;
beforeEach(() => {
  world = new StraightWorld();
});

test('where acceptance has begun the job, nothing more is asked', async () => {
  world.state = { begun: true };
  expect(await world.run()).toEqual([]);
  expect([world.begins, world.posted.length]).toEqual([0, 1]);
});

test('where it has not, the worker begins the job, and then sends', async () => {
  let begunFirst = false;
  const send: DispatchPorts['send'] = async () => {
    begunFirst = world.begins === 1;
    return { platformMessageId: 'platform-0' };
  };
  expect(await world.run(straight, { send })).toEqual([]);
  expect(begunFirst).toBe(true);
  expect(world.told).toEqual(['dispatch.completed']);
});

test('a message of a fan-out begins nothing', async () => {
  const { straight: _, ...fannedOut } = straight;
  await world.run(fannedOut);
  expect([world.begins, world.posted.length]).toEqual([0, 1]);
});

test('what was taken back is dropped without a word, whoever has its claim', async () => {
  world.withdrawn = true;
  await world.claims.take({ key, state: 'claimed', at: 'dead/0', claimedAtMs: world.nowMs - claimLifeMs });
  expect(await world.run()).toEqual([]);
  expect([world.posted, world.told]).toEqual([[], []]);
  expect(world.logged).toContainEqual({ event: 'job.withdrawn', facts: { jobId: 'J', clientId: 1001 } });

  const unclaimed = new StraightWorld();
  unclaimed.withdrawn = true;
  expect(await unclaimed.run()).toEqual([]);
  expect([unclaimed.posted, unclaimed.told]).toEqual([[], []]);
});

test('one that comes too late ends as it must, once its job has begun; taken back, it has no end', async () => {
  const late = { ...straight, expiresAtMs: world.nowMs };
  expect(await world.run(late)).toEqual([]);
  expect([world.begins, world.posted.length]).toEqual([1, 0]);
  expect(world.told).toEqual(['message.expired', 'dispatch.completed']);

  const taken = new StraightWorld();
  taken.withdrawn = true;
  expect(await taken.run(late)).toEqual([]);
  expect([taken.told, taken.storeCalls]).toEqual([[], []]);

  const stopped = new StraightWorld();
  stopped.state = { begun: true, stop: cancelled(startMs) };
  expect(await stopped.run(late)).toEqual([]);
  expect(stopped.told).toEqual(['message.failed', 'dispatch.completed']);
});

test('when the job can be neither read nor begun, the message is tried again later', async () => {
  const begin = () => Promise.reject(new Error('unavailable'));
  expect(await world.run(straight, { straightJobs: { begin } })).toEqual([]);
  expect(world.posted).toEqual([]);
  expect(world.copies).toMatchObject([{ message: { straight: true, version: 1, attempt: 1 } }]);
});

test('of a claim whose worker died before the job began, the job begins, and the message is unknown', async () => {
  await world.claims.take({ key, state: 'claimed', at: 'dead/0', claimedAtMs: world.nowMs - claimLifeMs });
  expect(await world.run()).toEqual([]);
  expect([world.begins, world.posted.length]).toEqual([1, 0]);
  expect(world.told).toEqual(['message.unknown', 'dispatch.completed']);
});
