import { errorName } from '../../observe/error-name.ts';
import type { DeliverPorts } from './deliver-ports.ts';
import { deliverToClient } from './deliver-to-client.ts';
import { leaseMs } from './delivery-state.ts';
import { decodeQueued, freshPending, type Pending } from './pending.ts';

export interface QueueDelivery {
  readonly messageId: string;
  readonly body: string;
}

/** A parsed message is a recorded fresh event, or a wake. */
interface Arrival {
  readonly messageId: string;
  readonly clientId: number;
  readonly fresh: Pending | undefined;
}

/**
 * Processes a batch; returns the ids to redeliver. Each event is recorded, then posted or put into its client's list.
 * Delivery is at-least-once: a repeated event keeps its `webhook-id` (D34, R43).
 */
export async function deliverBatch(deliveries: readonly QueueDelivery[], ports: DeliverPorts): Promise<string[]> {
  const again: string[] = [];
  const arrived = await Promise.all(
    deliveries.map((delivery) =>
      recordedFrom(delivery, ports).catch((error: unknown) => {
        ports.log('webhook.not_recorded', { error: errorName(error) });
        again.push(delivery.messageId);
        return undefined;
      }),
    ),
  );
  const byClient = Map.groupBy(
    arrived.filter((arrival) => arrival !== undefined),
    ({ clientId }) => clientId,
  );
  const left = await Promise.all([...byClient].map(([clientId, arrivals]) => deliverTo(clientId, arrivals, ports)));
  return [...again, ...left.flat()];
}

async function recordedFrom({ messageId, body }: QueueDelivery, ports: DeliverPorts): Promise<Arrival> {
  const queued = decodeQueued(body);
  if ('wakeClientId' in queued) return { messageId, clientId: queued.wakeClientId, fresh: undefined };
  await ports.records.record(queued);
  return { messageId, clientId: queued.clientId, fresh: freshPending(queued, ports.nowMs()) };
}

async function deliverTo(clientId: number, arrivals: readonly Arrival[], ports: DeliverPorts): Promise<string[]> {
  const messages = arrivals.map(({ messageId }) => messageId);
  const ended = new Set<Pending>();
  const fresh = arrivals.flatMap((arrival) => arrival.fresh ?? []);
  const isWoken = fresh.length < arrivals.length;
  try {
    const done = (pending: Pending) => void ended.add(pending);
    return [...(await deliverToClient({ clientId, messages, fresh, isWoken, done }, ports))];
  } catch (error) {
    ports.log('webhook.error', { clientId, count: arrivals.length - ended.size, error: errorName(error) });
  }
  const isOver = ended.size > 0 && (await lookAgainLater(clientId, ports));
  return arrivals
    .filter(({ fresh: event }) => !isOver || !event || !ended.has(event))
    .map(({ messageId }) => messageId);
}

/**
 * Queues a wake for events that other runs listed while the crashed run had the lease. Returns false when it cannot be
 * queued.
 */
async function lookAgainLater(clientId: number, ports: DeliverPorts): Promise<boolean> {
  try {
    await ports.queue.sendLater(clientId, Math.ceil(leaseMs / 1_000) + 1);
    return true;
  } catch (error) {
    ports.log('webhook.error', { clientId, error: errorName(error) });
    return false;
  }
}
