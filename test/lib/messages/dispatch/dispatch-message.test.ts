import { expect, test } from 'vitest';
import type { BatchPorts } from '../../../../lib/messages/dispatch/batch-ports.ts';
import { dispatchMessage } from '../../../../lib/messages/dispatch/dispatch-message.ts';
import { gatheredJobStates } from '../../../../lib/messages/dispatch/gathered-job-states.ts';
import { missedSlots } from '../../../../lib/messages/dispatch/missed-slots.ts';
import { paceLearning } from '../../../../lib/messages/pace/learned-pace.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { dispatchMessage as makeMessage } from '../../../faults/scenario-job.ts';
import { DispatchWorld, deliveryOf } from '../../../support/dispatch-ports.ts';

/* One message whose place in time is given. What it does in a batch is in dispatch.test.ts and dispatch-slots.test.ts. */

const message = makeMessage(0);
const attempt = { delivery: deliveryOf(message), at: 'run-1/0' };
const tooLate = { state: 'expired', code: 'expired' } as const;

function portsOf(world: DispatchWorld, changes: Partial<BatchPorts> = {}): BatchPorts {
  const ports = world.ports();
  return {
    ...ports,
    jobs: gatheredJobStates(ports.jobStates.of, ports),
    learning: paceLearning(ports),
    holds: ports.newHolds(),
    missed: missedSlots(ports),
    ...changes,
  };
}

/** A slot so long from now; a message is claimed as soon as it comes. */
const slotIn = (world: DispatchWorld, ms: number) =>
  ({
    kind: 'slot',
    message,
    slotMs: world.nowMs + ms,
    untilMs: world.nowMs + ms + 75,
    claimAtMs: world.nowMs,
  }) as const;

test('one that was found too late for another slot ends so, though the clock says that it might leave (D27)', async () => {
  const world = new DispatchWorld();
  const missed = { placeAgain: async () => ({ kind: 'late', message, settlement: tooLate }) as const };
  const ending = await dispatchMessage(slotIn(world, -1_000), attempt, portsOf(world, { missed }));
  expect(ending.events).toMatchObject([{ type: 'message.expired' }]);
  expect([world.posted, world.store.claims['J-0']]).toMatchObject([[], tooLate]);
});

test('a slot that has passed is good for as long as its place says (D43)', async () => {
  const world = new DispatchWorld();
  const missed = { placeAgain: async () => ({ kind: 'late', message, settlement: tooLate }) as const };
  const placed = { ...slotIn(world, -1_000), untilMs: world.nowMs + 500 };
  await dispatchMessage(placed, attempt, portsOf(world, { missed }));
  expect(world.posted.map(({ jobId }) => jobId)).toEqual(['J']);
});

test('what leaves has its credential read before its slot; what is too late needs none', async () => {
  const world = new DispatchWorld();
  const prepared: string[] = [];
  const ports = portsOf(world, { ready: async ({ jobId }) => void prepared.push(jobId) });
  await dispatchMessage({ kind: 'late', message, settlement: tooLate }, attempt, ports);
  expect([prepared, world.store.claims['J-0']]).toMatchObject([[], tooLate]);
  const other = { ...message, jobId: 'K' };
  await dispatchMessage({ ...slotIn(world, 0), message: other }, attempt, ports);
  expect([prepared[0], world.posted.map(({ jobId }) => jobId)]).toEqual(['K', ['K']]);
});

test.each([
  ['its credential, which somebody has to mend', true, { httpStatus: 401, code: 190 }],
  ['the pace of its number', false, { code: 130429 }],
  ['the pace of its recipient', false, { code: 131056 }],
])('a message is refused for %s: the log names its client: %s', async (_, named, refusal) => {
  const world = new DispatchWorld();
  const send = async () => Promise.reject(new PlatformFailure('refused', refusal));
  await dispatchMessage(slotIn(world, 0), attempt, portsOf(world, { send }));
  expect(world.copies).toHaveLength(1);
  const loud = world.logged.filter(({ event }) => event === 'dispatch.credential_refused');
  expect(loud.map(({ facts }) => facts)).toEqual(named ? [{ dispatchId: 'J-0', clientId: 1001 }] : []);
});
