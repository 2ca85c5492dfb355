import { log } from '../observe/log.ts';
import type { EventSink, ServiceEvent } from './event.ts';

/**
 * For what has already happened and cannot be taken back: queues the events, and when that fails, logs it and goes on. The
 * answer to the caller is true all the same.
 */
export async function announce(sink: EventSink, events: readonly ServiceEvent[]): Promise<void> {
  try {
    await sink.send(events);
  } catch (error) {
    log('event.not_queued', { count: events.length, error: error instanceof Error ? error.name : typeof error });
  }
}
