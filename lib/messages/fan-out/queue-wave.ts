import type { QueueEntry } from '../../aws/sqs-batch.ts';
import type { DispatchMessage } from '../job.ts';

export interface DelayedMessage {
  readonly message: DispatchMessage;
  readonly delaySeconds: number;
  /** Not to be queued before; at once without it. */
  readonly queueAtMs?: number;
}

export interface FanOutQueue {
  /** Packs messages in order into as few batches as the queue's limits allow. */
  pack(messages: readonly DelayedMessage[]): QueueEntry[][];
  /** Queues one batch; returns the entries that the queue refused. */
  sendBatch(entries: readonly QueueEntry[]): Promise<readonly QueueEntry[]>;
}

interface QueuePorts {
  readonly queue: FanOutQueue;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

const batchesInFlight = 10;
const sendTries = 4;

/** Queues all messages, each batch at its time, or throws: what the queue keeps refusing, and what it is too late for. */
export async function queueWave(messages: readonly DelayedMessage[], untilMs: number, ports: QueuePorts) {
  const batches = timedBatches(messages, ports).values();
  // The workers share one iterator: each takes the next batch as soon as it is free.
  await Promise.all(
    Array.from({ length: batchesInFlight }, async () => {
      for (const { batch, atMs } of batches) {
        const waitMs = atMs - ports.nowMs();
        if (waitMs > 0) await ports.pause(waitMs);
        await queueBatch(batch, untilMs, ports);
      }
    }),
  );
}

/** In the order of their times: that of a batch is the first of its messages'. */
function timedBatches(messages: readonly DelayedMessage[], { queue, nowMs }: QueuePorts) {
  const atOnceMs = nowMs();
  let packed = 0;
  return queue
    .pack(messages)
    .map((batch) => {
      const own = messages.slice(packed, packed + batch.length);
      packed += batch.length;
      return { batch, atMs: Math.min(...own.map(({ queueAtMs = atOnceMs }) => queueAtMs)) };
    })
    .toSorted((one, other) => one.atMs - other.atMs);
}

async function queueBatch(batch: readonly QueueEntry[], untilMs: number, ports: QueuePorts): Promise<void> {
  let open = batch;
  for (let attempt = 1; open.length > 0; attempt += 1) {
    if (attempt > sendTries) throw new Error(`the dispatch queue refused ${open.length} messages ${sendTries} times`);
    if (attempt > 1) await ports.pause(100 * 2 ** attempt * (1 + ports.random()));
    if (ports.nowMs() > untilMs) throw new Error('the lease of the round has run out');
    open = await ports.queue.sendBatch(open);
  }
}
