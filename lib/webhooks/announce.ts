import { log } from '../observe/log.ts';
import { count } from '../observe/metrics.ts';
import { nameOf } from '../observe/name-of.ts';
import type { EventSink, ServiceEvent } from './event.ts';

/**
 * For events about facts that cannot be undone. A failure is logged and counted but not thrown, because the caller's
 * answer is true all the same.
 */
export async function announce(sink: EventSink, events: readonly ServiceEvent[]): Promise<void> {
  try {
    await sink.send(events);
  } catch (error) {
    count('EventsNotQueued', events.length);
    for (const { clientId, id: eventId, type: eventType } of events) {
      log('event.not_queued', {
        clientId,
        eventId,
        eventType,
        error: nameOf(error),
      });
    }
  }
}
