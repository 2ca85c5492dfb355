import { errorName } from '../../observe/error-name.ts';
import { defaultEventTypes, type ServiceEvent } from '../../webhooks/event.ts';
import type { ReceiptPorts } from './receipt-ports.ts';

/** This many fit well into the time limit of one call to the event queue (webhooks/event-queue.ts). */
const eventsAtOnce = 1_000;
const sliceBudgetMs = 10_000;

/**
 * Queues first the rare kinds that clients receive by default, then message steps. Stops when time runs short or a
 * slice fails; returns the keys that may not be queued.
 */
export async function queueEvents(
  events: readonly (readonly [string, ServiceEvent])[],
  ports: Pick<ReceiptPorts, 'events' | 'remainingMs' | 'log'>,
): Promise<ReadonlySet<string>> {
  const { rare = [], steps = [] } = Object.groupBy(events, ([, { type }]) =>
    defaultEventTypes.has(type) ? 'rare' : 'steps',
  );
  const slices = [...slicesOf(rare), ...slicesOf(steps)];
  for (const [done, slice] of slices.entries()) {
    const error = await queueSlice(slice, ports);
    if (error === undefined) continue;
    const left = slices.slice(done).flat();
    ports.log('receipts.events_left', { count: left.length, error });
    return new Set(left.map(([key]) => key));
  }
  return new Set();
}

function slicesOf<Each>(all: readonly Each[]): Each[][] {
  return Array.from({ length: Math.ceil(all.length / eventsAtOnce) }, (_, slice) =>
    all.slice(slice * eventsAtOnce, (slice + 1) * eventsAtOnce),
  );
}

async function queueSlice(
  slice: readonly (readonly [string, ServiceEvent])[],
  ports: Pick<ReceiptPorts, 'events' | 'remainingMs'>,
): Promise<string | undefined> {
  if (ports.remainingMs() < sliceBudgetMs) return 'time is short';
  try {
    await ports.events.send(slice.map(([, event]) => event));
    return undefined;
  } catch (error) {
    return errorName(error);
  }
}
