import { dispatchBatch } from '../../lib/messages/dispatch/dispatch.ts';
import type { DispatchPorts } from '../../lib/messages/dispatch/dispatch-ports.ts';
import type { DispatchMessage } from '../../lib/messages/job.ts';
import { log } from '../../lib/observe/log.ts';
import { metered } from '../../lib/observe/metrics.ts';
import { dispatchMessage } from '../faults/scenario-job.ts';
import { type DispatchWorld, deliveryOf } from './dispatch-ports.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** Bytes that are written to standard output meanwhile: what CloudWatch is given, without the platform's own lines. */
export async function bytesWritten(work: () => Promise<unknown>): Promise<number> {
  const counted = countBytes();
  await work().finally(counted.stop);
  return counted.bytes();
}

/** The same of work that is over at once. */
export function bytesWrittenNow(work: () => void): number {
  const counted = countBytes();
  try {
    work();
  } finally {
    counted.stop();
  }
  return counted.bytes();
}

function countBytes() {
  const write = process.stdout.write;
  let bytes = 0;
  process.stdout.write = ((text: string | Uint8Array) => {
    bytes += Buffer.byteLength(text);
    return true;
  }) as typeof write;
  return {
    bytes: () => bytes,
    stop: () => {
      process.stdout.write = write;
    },
  };
}

/** Messages of as many requests, with ids as long as those that are deployed. */
export function messagesOf(requests: number, count: number): DispatchMessage[] {
  return Array.from({ length: count }, (_, index) => {
    const request = String(index % requests).padStart(2, '0');
    return dispatchMessage(index, {
      jobId: `01KAH00000000000000000JB${request}`,
      correlationId: `00000000-0000-4000-8000-0000000000${request}`,
      receiptsExpected: true,
    });
  });
}

/** Bytes of log, metrics included, that one run of the dispatch writes. */
export async function logBytesOfRun(
  messages: readonly DispatchMessage[],
  {
    clock,
    world,
    changes = {},
  }: { readonly clock: VirtualClock; readonly world: DispatchWorld; readonly changes?: Partial<DispatchPorts> },
): Promise<number> {
  const deliveries = messages.map((message, at) => deliveryOf(message, `message-${at}`));
  const ports = { ...world.ports(), nowMs: clock.nowMs, pause: clock.pause, log, ...changes };
  return await bytesWritten(() => clock.run(metered(() => dispatchBatch(deliveries, ports))));
}
