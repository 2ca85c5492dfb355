import { describe, expect, test } from 'vitest';
import { packEntries, type QueueEntry } from '../../../../lib/aws/sqs-batch.ts';
import type { QueuedChunk } from '../../../../lib/messages/dispatch/chunk.ts';
import { queueChunks } from '../../../../lib/messages/fan-out/queue-chunks.ts';
import { deliveryLeadMs } from '../../../../lib/messages/send/chunk-time.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const startMs = 1_800_000_000_000;
const forEver = startMs + 1_000_000;

const chunksIn = (slotsMs: readonly number[]) =>
  slotsMs.map((slotMs, at) => ({ chunk: { lane: String(at), clientId: 1001 } as QueuedChunk, slotMs }));

/** The queue answers each batch as given, after a delay, and records when each chunk came, by its lane. */
function world(
  answer: (entries: readonly QueueEntry[], batch: number) => readonly QueueEntry[] = () => [],
  tookMs = 0,
) {
  const clock = new VirtualClock(startMs);
  const queued: { name: string; atMs: number; delaySeconds: number; group: string }[] = [];
  const batches: { atMs: number; names: string[] }[] = [];
  const nameOf = ({ body }: QueueEntry) => (JSON.parse(body) as QueuedChunk).lane;
  const sendBatch = async (entries: readonly QueueEntry[]) => {
    const atMs = clock.nowMs();
    batches.push({ atMs: atMs - startMs, names: entries.map(nameOf) });
    if (tookMs > 0) await clock.pause(tookMs);
    const refused = answer(entries, batches.length);
    for (const entry of entries) {
      if (!refused.includes(entry)) queued.push({ ...entry, name: nameOf(entry), atMs });
    }
    return refused;
  };
  const { nowMs, pause } = clock;
  const ports = { queue: { pack: packEntries, sendBatch }, nowMs, random: () => 0.5, pause };
  return {
    ...{ clock, queued, batches },
    run: (slotsMs: readonly number[], untilMs = forEver) => clock.run(queueChunks(chunksIn(slotsMs), untilMs, ports)),
  };
}

test('each chunk is queued at a moment from which whole seconds lead to the time before its slot', async () => {
  const { run, queued, clock } = world();
  // The slots are 377 ms apart, so every chunk has its own moment.
  const slots = Array.from({ length: 40 }, (_, at) => startMs + 2_100 + at * 377);
  await run(slots);
  for (const { name, atMs, delaySeconds, group } of queued) {
    const comesMs = atMs + delaySeconds * 1_000;
    const earlyMs = (slots[Number(name)] ?? 0) - deliveryLeadMs - comesMs;
    // A chunk that shares a batch with earlier ones may come too early, and never too late.
    expect(earlyMs).toBeGreaterThanOrEqual(0);
    expect(earlyMs).toBeLessThanOrEqual(120);
    expect(group).toBe('1001');
  }
  expect(queued).toHaveLength(40);
  expect(clock.nowMs() - startMs).toBeLessThan(1_000);
});

test('what is due within a second is queued at once, without a delay', async () => {
  const { run, queued } = world();
  await run([startMs - 5_000, startMs, startMs + deliveryLeadMs + 999, startMs + deliveryLeadMs + 1_000]);
  expect(queued.map(({ atMs, delaySeconds }) => [atMs - startMs, delaySeconds])).toEqual([
    ...Array(3).fill([0, 0]),
    [0, 1],
  ]);
});

test('chunks whose moments are no more than 120 ms apart go together, counted from the first of them', async () => {
  const { run, batches } = world();
  const at = (ms: number) => startMs + deliveryLeadMs + 5_000 + ms;
  await run([at(500), at(300), at(1_400), at(420), at(421)]);
  expect(batches).toEqual([
    { atMs: 300, names: ['1', '2', '3'] },
    { atMs: 421, names: ['4', '0'] },
  ]);
});

describe('a queue that refuses', () => {
  test('is offered what it refused, and nothing else, until all is in', async () => {
    const { run, queued, batches } = world((entries, batch) => (batch <= 2 ? entries.slice(0, 2) : []));
    await run([startMs, startMs, startMs]);
    expect(batches).toEqual([
      { atMs: 0, names: ['0', '1', '2'] },
      { atMs: 600, names: ['0', '1'] },
      { atMs: 1_800, names: ['0', '1'] },
    ]);
    expect(queued.map(({ name }) => name)).toEqual(['2', '0', '1']);
  });

  test('four times fails the run', async () => {
    const { run, batches } = world((entries) => entries);
    await expect(run([startMs, startMs])).rejects.toThrow('the dispatch queue refused 2 chunks 4 times');
    expect(batches).toHaveLength(4);
  });

  test('after the lease is offered nothing more', async () => {
    const { run, batches } = world((entries) => entries);
    await expect(run([startMs], startMs + 599)).rejects.toThrow('the lease of the round has run out');
    expect(batches).toHaveLength(1);
  });
});

test('a wave whose lease is over is not queued at all; at its last moment it is', async () => {
  const { run, batches } = world();
  await expect(run([startMs], startMs - 1)).rejects.toThrow('lease');
  expect(batches).toEqual([]);
  await run([startMs], startMs);
  expect(batches).toHaveLength(1);
});

test('ten batches are under way at once; when one fails, the others are waited for and no further one begins', async () => {
  const { run, batches, queued } = world((_, batch) => {
    if (batch >= 10) throw new Error('down');
    return [];
  }, 50);
  const slots = Array.from({ length: 300 }, () => startMs);
  await expect(run(slots)).rejects.toThrow('down');
  expect([batches.length, queued.length]).toEqual([10, 0]);
});
