import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { type ServiceEvent, ServiceEventSchema } from '../../lib/webhooks/event.ts';
import { eventQueue } from '../../lib/webhooks/event-queue.ts';
import { freshQueue, localQueueClient } from './stores.ts';

/** Opens the real sink over a queue of its own, and reads the events since the last look, by type and client. */
export async function queuedEvents() {
  const client = localQueueClient();
  const url = await freshQueue();
  return { url, sink: eventQueue(client, url), arrived: () => arrivedIn(url) };
}

export type QueuedEvents = Awaited<ReturnType<typeof queuedEvents>>;

async function arrivedIn(url: string): Promise<ServiceEvent[]> {
  const client = localQueueClient();
  const events: ServiceEvent[] = [];
  for (;;) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10, VisibilityTimeout: 3_600 }),
    );
    if (Messages.length === 0) break;
    events.push(...Messages.map(({ Body = '' }) => v.parse(ServiceEventSchema, JSON.parse(Body))));
  }
  client.destroy();
  return events.sort((a, b) => a.type.localeCompare(b.type) || a.clientId - b.clientId);
}
