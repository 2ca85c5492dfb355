import { expect, test } from 'vitest';
import { dispatchBatch } from '../../../../lib/messages/dispatch/dispatch.ts';
import type { DispatchPorts } from '../../../../lib/messages/dispatch/dispatch-ports.ts';
import { platformMessages, readyToCall } from '../../../../lib/messages/dispatch/platform-messages.ts';
import type { DispatchMessage } from '../../../../lib/messages/job.ts';
import { reserve } from '../../../../lib/messages/pace/reserve.ts';
import { platformCredentials } from '../../../../lib/platform/credentials.ts';
import { dispatchMessage, startMs } from '../../../faults/scenario-job.ts';
import { DispatchWorld, deliveryOf } from '../../../support/dispatch-ports.ts';
import { memoryPaces, memoryTenths } from '../../../support/memory-paces.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

/* Processes that have just started, and whose secret takes a while to read, in virtual time. */

const limitPerSecond = 80;
const lane = { clientId: 1001, lane: 'job-1' };

/** So many processes with so many batches each, all of one idle number: when the platform was called, and who waits for a far slot. */
async function callTimes(processes: number, batchesEach: number, secretMs: number) {
  const world = new DispatchWorld();
  const clock = new VirtualClock(startMs);
  const paces = memoryPaces();
  const calledAtMs: number[] = [];
  const count = processes * batchesEach * 10;
  const wanted = { phoneNumberId: dispatchMessage(0).phoneNumberId, limitPerSecond, ...lane, count };
  const { firstPosition } = await reserve(paces, wanted, clock.nowMs());
  const messages = Array.from({ length: count }, (_, at) =>
    dispatchMessage(at, { turn: { ...lane, position: firstPosition + at } }),
  );

  const startProcess = () => {
    const credentialOf = platformCredentials(async () => {
      await clock.pause(secretMs);
      return JSON.stringify({ main: { accessToken: 'token', appId: 'app' } });
    }, clock.nowMs);
    const send = platformMessages(async () => {
      calledAtMs.push(clock.nowMs());
      await clock.pause(80);
      return { body: { messages: [{ id: 'platform' }] } };
    }, credentialOf);
    const changes: Partial<DispatchPorts> = {
      ...{ paces, tenths: memoryTenths(), nowMs: clock.nowMs, pause: clock.pause },
      ...{ send, ready: readyToCall(credentialOf) },
    };
    return async (batch: readonly DispatchMessage[]) => {
      const deliveries = batch.map((message) => deliveryOf(message, `message-${message.index}`));
      await dispatchBatch(deliveries, world.ports(changes));
    };
  };

  const work = Array.from({ length: processes }, async (_, process) => {
    const dispatch = startProcess();
    for (let round = 0; round < batchesEach; round += 1) {
      const from = (round * processes + process) * 10;
      await dispatch(messages.slice(from, from + 10));
    }
  });
  await clock.run(Promise.all(work));
  return { times: calledAtMs.toSorted((one, other) => one - other), waiting: world.copies.length };
}

function mostInASecond(times: readonly number[]): number {
  return Math.max(...times.map((fromMs) => times.filter((atMs) => atMs >= fromMs && atMs < fromMs + 1_000).length));
}

test.each([60, 95, 200, 900])(
  'workers that start cold, with a secret that takes %i ms, keep an idle number to its limit (D43)',
  async (secretMs) => {
    const { times, waiting } = await callTimes(10, 3, secretMs);
    expect(times.length + waiting).toBe(300);
    expect(mostInASecond(times)).toBeLessThanOrEqual(limitPerSecond);
  },
);

test('a slot that is still ahead when the secret is read is kept to the millisecond', async () => {
  const { times } = await callTimes(10, 3, 60);
  const everyMs = 1_000 / 72;
  const due = Array.from({ length: 300 }, (_, at) => Math.floor(startMs + at * everyMs));
  // The first batch has slots from the beginning, before its worker can know its secret.
  expect(times.slice(10)).toEqual(due.slice(10));
});
