import type { LogEvent, LogFacts } from '../observe/log.ts';
import { nameOf } from '../observe/name-of.ts';
import { defaultEventTypes, type EventSink, type EventType, isEventType, type WantedEvents } from './event.ts';

interface Wish {
  readonly events?: readonly string[] | undefined;
}

const none: ReadonlySet<EventType> = new Set();

/**
 * The kinds that a client wants (D41): none without a configuration, the default until it chooses. A switched-off one
 * counts too: its events stay recorded for seven days, and can be sent later (D34).
 */
export function wantedBy(config: Wish | undefined): ReadonlySet<EventType> {
  if (config === undefined) return none;
  return config.events === undefined ? defaultEventTypes : new Set(config.events.filter(isEventType));
}

export interface WantedOnlyPorts {
  readonly sink: EventSink;
  readonly wanted: WantedEvents;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/**
 * Queues only wanted events (D41). Every call reads each client's choice, so a PUT counts at once. An unreadable choice
 * drops nothing, because the delivery checks again.
 */
export function wantedOnly({ sink, wanted, log }: WantedOnlyPorts): EventSink {
  return {
    send: async (events) => {
      const clientIds = [...new Set(events.map(({ clientId }) => clientId))];
      const wishes = new Map(await Promise.all(clientIds.map(async (id) => [id, await wishOf(id)] as const)));
      const passed = events.filter(({ clientId, type }) => wishes.get(clientId)?.has(type) ?? true);
      if (passed.length > 0) await sink.send(passed);
    },
  };

  async function wishOf(clientId: number): Promise<ReadonlySet<EventType> | undefined> {
    try {
      return await wanted(clientId);
    } catch (error) {
      log('event.wanted_not_read', { clientId, error: nameOf(error) });
      return undefined;
    }
  }
}
