import { nameOf } from '../../observe/name-of.ts';
import { defaultEventTypes, type ServiceEvent } from '../../webhooks/event.ts';
import type { ReceiptPorts } from './receipt-ports.ts';

/** So many are queued well within the time that one call of the event queue has (webhooks/event-queue.ts). */
const eventsAtOnce = 1_000;
/** What such a call takes at most, and the end of the run. */
const sliceBudgetMs = 10_000;

/**
 * Queues events of a run slice by slice: first the kinds that everybody is told of by default, which are rare, and then
 * the steps of messages, each in the order given. Ends when time runs short or the queue does not take a slice, and
 * returns the keys of the events that may not be queued.
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

/** Returns why the slice may not be queued. */
async function queueSlice(
  slice: readonly (readonly [string, ServiceEvent])[],
  ports: Pick<ReceiptPorts, 'events' | 'remainingMs'>,
): Promise<string | undefined> {
  if (ports.remainingMs() < sliceBudgetMs) return 'time is short';
  try {
    await ports.events.send(slice.map(([, event]) => event));
    return undefined;
  } catch (error) {
    return nameOf(error);
  }
}
