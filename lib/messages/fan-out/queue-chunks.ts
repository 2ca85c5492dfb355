import { forEachConcurrently } from '../../aws/concurrently.ts';
import { queueBody } from '../../aws/queue-body.ts';
import type { QueueEntry } from '../../aws/sqs-batch.ts';
import type { QueuedChunk } from '../dispatch/chunk.ts';
import { deliveryLeadMs, queueDelaySeconds } from '../send/chunk-time.ts';

export interface TimedChunk {
  readonly chunk: QueuedChunk;
  readonly slotMs: number;
}

export interface ChunkSink {
  /** Packs entries in order into as few batches as SQS allows. */
  pack(entries: readonly QueueEntry[]): QueueEntry[][];
  /** Queues one batch; returns the refused entries. */
  sendBatch(entries: readonly QueueEntry[]): Promise<readonly QueueEntry[]>;
}

interface QueuePorts {
  readonly queue: ChunkSink;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

/** SQS delays are whole seconds: chunks due this close to each other share a batch, the later ones slightly early. */
const togetherMs = 120;
const batchesInFlight = 10;
const sendTries = 4;

/**
 * Queues each chunk so that its whole-second delay ends `deliveryLeadMs` before its first slot; takes up to a second.
 * Throws without pending requests when the queue keeps refusing or the lease runs out.
 */
export async function queueChunks(chunks: readonly TimedChunk[], untilMs: number, ports: QueuePorts): Promise<void> {
  await forEachConcurrently(timedBatches(chunks, ports), batchesInFlight, async ({ entries, atMs }) => {
    const waitMs = atMs - ports.nowMs();
    if (waitMs > 0) await ports.pause(waitMs);
    await queueBatch(entries, untilMs, ports);
  });
}

function timedBatches(chunks: readonly TimedChunk[], { queue, nowMs }: QueuePorts) {
  const sinceMs = nowMs();
  const timed = chunks
    .map(({ chunk, slotMs }) => {
      const leftMs = slotMs - deliveryLeadMs - sinceMs;
      const atMs = leftMs < 1_000 ? sinceMs : sinceMs + (leftMs % 1_000);
      const delaySeconds = queueDelaySeconds(slotMs, atMs);
      return {
        atMs,
        entry: { body: queueBody({ ...chunk, plannedMs: slotMs }), group: String(chunk.clientId), delaySeconds },
      };
    })
    .toSorted((one, other) => one.atMs - other.atMs);
  const groups: { readonly atMs: number; readonly entries: QueueEntry[] }[] = [];
  for (const { atMs, entry } of timed) {
    const group = groups.at(-1);
    if (group !== undefined && atMs - group.atMs <= togetherMs) group.entries.push(entry);
    else groups.push({ atMs, entries: [entry] });
  }
  return groups.flatMap(({ atMs, entries: together }) => queue.pack(together).map((entries) => ({ entries, atMs })));
}

async function queueBatch(entries: readonly QueueEntry[], untilMs: number, ports: QueuePorts): Promise<void> {
  let open = entries;
  for (let attempt = 1; open.length > 0; attempt += 1) {
    if (attempt > sendTries) throw new Error(`the dispatch queue refused ${open.length} chunks ${sendTries} times`);
    if (attempt > 1) await ports.pause(100 * 2 ** attempt * (1 + ports.random()));
    if (ports.nowMs() > untilMs) throw new Error('the lease of the round has run out');
    open = await ports.queue.sendBatch(open);
  }
}
