import { expect, test, vi } from 'vitest';
import type { QueuedChunk } from '../../../../lib/messages/dispatch/chunk.ts';
import { processBatch } from '../../../../lib/messages/send/process-batch.ts';
import { log } from '../../../../lib/observe/log.ts';
import { countPlatformError, metered } from '../../../../lib/observe/metrics.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { seededRandom } from '../../../support/faults.ts';
import { type FlatPorts, grouped } from '../../../support/flat-ports.ts';
import { bytesWritten } from '../../../support/written-bytes.ts';
import { ChunkRunWorld, chunkOf, deliveriesOf, slicesOf } from './chunk-run-world.ts';

/** CloudWatch bills the bytes of logs and metrics. */

// The metrics module reads the name at import; it is as long as a deployment's.
vi.hoisted(() => {
  process.env['POWERTOOLS_SERVICE_NAME'] = 'template-messaging-prod-service';
});

/** The ids are as long as a deployment's. */
function chunksOf(recipients: number, count: number): QueuedChunk[] {
  return Array.from({ length: count }, (_, at) => {
    const id = String(at).padStart(2, '0');
    return chunkOf(slicesOf(recipients), {
      dispatchId: `01KAH00000000000000000JB${id}`,
      correlationId: `00000000-0000-4000-8000-0000000000${id}`,
      receiptsExpected: true,
    });
  });
}

async function bytesOfRun(
  world: ChunkRunWorld,
  chunks: readonly QueuedChunk[],
  changes: Partial<FlatPorts> = {},
): Promise<number> {
  const ports = world.ports({ log, ...changes });
  return await bytesWritten(() => world.pass(metered(() => processBatch(deliveriesOf(chunks), grouped(ports)))));
}

/** Returns the bytes and the runs that ten chunks of thirty take until all is sent, one chunk a run. */
async function bytesOfTrouble(world: ChunkRunWorld, changes: Partial<FlatPorts> = {}) {
  let waiting = chunksOf(30, 10).map((chunk) => ({ chunk, dueMs: world.nowMs }));
  let [bytes, runs] = [0, 0];
  for (; waiting.length > 0; runs += 1) {
    const [next, ...others] = waiting.toSorted((one, other) => one.dueMs - other.dueMs);
    if (next === undefined) break;
    if (next.dueMs > world.nowMs) await world.wait(next.dueMs - world.nowMs);
    bytes += await bytesOfRun(world, [next.chunk], changes);
    const again = world.requeued.splice(0);
    waiting = [
      ...others,
      ...again.map(({ chunk, delaySeconds }) => ({ chunk, dueMs: world.nowMs + delaySeconds * 1_000 })),
    ];
  }
  const outcomes = [...world.table.slices.values()].flatMap((slice) => slice.outcomes);
  expect(outcomes.filter((outcome) => outcome?.state === 'sent')).toHaveLength(300);
  return { bytes: bytes / 300, runs };
}

test.each([
  ['thirty messages of a dispatch', 30, 1, 20],
  ['a lone message', 1, 1, 410],
  ['ten requests of one', 1, 10, 120],
])('%s write at most so many bytes each', async (_, recipients, chunks, most) => {
  const world = new ChunkRunWorld();
  const bytes = await bytesOfRun(world, chunksOf(recipients, chunks));
  expect(world.posted).toHaveLength(recipients * chunks);
  expect(bytes / (recipients * chunks)).toBeGreaterThan(5);
  expect(bytes / (recipients * chunks)).toBeLessThanOrEqual(most);
});

/** Slow claims miss their slots, and throttled messages come again in a run of their own. */
test.each([
  ['half of all', 2, 380],
  ['two of three', 3, 600],
])(
  'messages of a dispatch of whose calls %s are throttled, so that their last tries leave one by one, too',
  async (_, oneOf, most) => {
    const world = new ChunkRunWorld();
    world.latencyOf = (name) => (name === 'claimSlice' ? 400 : 0);
    let calls = 0;
    world.send = async () => {
      calls += 1;
      if (calls % oneOf === 0) return {};
      // The platform client counts it like this.
      countPlatformError('130429');
      throw new PlatformFailure('refused', { code: 130429 });
    };
    const { bytes, runs } = await bytesOfTrouble(world);
    expect(runs).toBeGreaterThan(30);
    expect(bytes).toBeLessThanOrEqual(most);
  },
);

test('those of a dispatch write at most 200 where timers are late, so that slot after slot passes by', async () => {
  const world = new ChunkRunWorld();
  const random = seededRandom(12);
  const pause = async (ms: number) => await world.time.sleep(random() < 0.8 ? ms + 250 : ms);
  const { bytes, runs } = await bytesOfTrouble(world, { pause });
  expect(runs).toBeGreaterThan(20);
  expect(bytes).toBeLessThanOrEqual(200);
});
