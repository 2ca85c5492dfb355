import type { LogEvent, LogFacts } from '../observe/log.ts';
import { nameOf } from '../observe/name-of.ts';
import { defaultEventTypes, type EventSink, type EventType, isEventType, type WantedEvents } from './event.ts';

/** What a configuration says of kinds. */
interface Wish {
  readonly events?: readonly string[] | undefined;
}

const none: ReadonlySet<EventType> = new Set();

/**
 * The kinds that a client wants (D41): none without a configuration, the default until it chooses. One that is switched off
 * wants what it wanted: that is kept for seven days, and can be sent when it is on again (D34).
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
 * Passes on what the clients want and drops the rest before it is queued (D41). Every call asks anew, once for each client in
 * it, so a PUT counts at once. Where the wish cannot be read nothing is dropped: it is asked for again at the delivery.
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
