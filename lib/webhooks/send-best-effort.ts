import { errorName } from '../observe/error-name.ts';
import { log } from '../observe/log.ts';
import { count } from '../observe/metrics.ts';
import type { EventSink, ServiceEvent } from './event.ts';

/**
 * Logs and counts a failure: the facts of these events cannot be undone, and the caller's answer is true all the same.
 */
export async function sendBestEffort(sink: EventSink, events: readonly ServiceEvent[]): Promise<void> {
  try {
    await sink.send(events);
  } catch (error) {
    count('EventsNotQueued', events.length);
    for (const { clientId, id: eventId, type: eventType } of events) {
      log('event.not_queued', {
        clientId,
        eventId,
        eventType,
        error: errorName(error),
      });
    }
  }
}
