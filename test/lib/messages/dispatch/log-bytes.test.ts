import { expect, test, vi } from 'vitest';
import { countPlatformError } from '../../../../lib/observe/metrics.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { startMs } from '../../../support/scenario-job.ts';
import { DispatchWorld } from '../../../support/dispatch-ports.ts';
import { seededRandom } from '../../../support/faults.ts';
import { memoryPaces } from '../../../support/memory-paces.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { logBytesOfRun, messagesOf } from '../../../support/written-bytes.ts';

// Read when the metrics are first imported: as long as the name of a deployment.
vi.hoisted(() => {
  process.env['POWERTOOLS_SERVICE_NAME'] = 'template-messaging-prod-service';
});

test.each([1, 10])('a full batch of %i requests writes at most 120 bytes of log a message', async (requests) => {
  const [clock, world] = [new VirtualClock(startMs), new DispatchWorld()];
  const bytes = await logBytesOfRun(messagesOf(requests, 10), { clock, world });
  expect(world.posted).toHaveLength(10);
  expect(bytes / 10).toBeGreaterThan(30);
  expect(bytes / 10).toBeLessThanOrEqual(120);
});

test('a lone message writes at most 410 bytes of log, metrics included', async () => {
  const [clock, world] = [new VirtualClock(startMs), new DispatchWorld()];
  const bytes = await logBytesOfRun(messagesOf(1, 1), { clock, world });
  expect(world.posted).toHaveLength(1);
  expect(bytes).toBeGreaterThan(300);
  expect(bytes).toBeLessThanOrEqual(410);
});

/**
 * Claims are slow, so that each message misses slots, and the platform throttles: half of all calls are refused, or two of
 * three, whose messages come again as copies, in batches of their own.
 */
test.each([
  ['half of all', 2, 150],
  ['two of three', 3, 200],
] as const)('messages of whose calls %s are throttled write at most 200 bytes of log each', async (_, oneOf, most) => {
  const [clock, world] = [new VirtualClock(startMs), new DispatchWorld()];
  const paces = memoryPaces();
  let calls = 0;
  const take: typeof world.claims.take = async (claim) => {
    await clock.pause(400);
    return await world.claims.take(claim);
  };
  const send = async (message: (typeof world.posted)[number]) => {
    calls += 1;
    if (calls % oneOf > 0) {
      // As the platform client counts it.
      countPlatformError('130429');
      throw new PlatformFailure('refused', { code: 130429 });
    }
    world.posted.push(message);
    return { platformMessageId: `platform-${message.index}` };
  };
  let waiting = messagesOf(1, 100);
  let [bytes, runs] = [0, 0];
  for (; waiting.length > 0; runs += 1) {
    const changes = { claims: { ...world.claims, take }, send, paces };
    bytes += await logBytesOfRun(waiting.slice(0, 10), { clock, world, changes });
    const copies = world.copies.splice(0).map(({ message }) => message);
    waiting = [...waiting.slice(10), ...copies];
    await clock.run(clock.pause(5_000));
  }
  expect(world.posted).toHaveLength(100);
  expect(runs).toBeGreaterThan(18);
  expect(bytes / 100).toBeLessThanOrEqual(most);
});

test('nor do they where timers are late, so that slot after slot passes by', async () => {
  const [clock, world] = [new VirtualClock(startMs), new DispatchWorld()];
  const paces = memoryPaces();
  const random = seededRandom(12);
  const pause = async (ms: number) => await clock.pause(random() < 0.8 ? ms + 250 : ms);
  let waiting = messagesOf(1, 100);
  let [bytes, missed] = [0, 0];
  while (waiting.length > 0) {
    bytes += await logBytesOfRun(waiting.slice(0, 10), { clock, world, changes: { pause, paces } });
    const copies = world.copies.splice(0).map(({ message }) => message);
    missed += copies.length;
    waiting = [...waiting.slice(10), ...copies];
    await clock.run(clock.pause(5_000));
  }
  expect(world.posted).toHaveLength(100);
  // Some have even given back their claims.
  expect(missed).toBeGreaterThan(0);
  expect(bytes / 100).toBeLessThanOrEqual(200);
});
