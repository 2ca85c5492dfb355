import { errorName } from '../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../observe/log.ts';
import { defaultEventTypes, type EventSink, type EventType, isEventType, type SubscribedTypes } from './event.ts';

interface Wish {
  readonly events?: readonly string[] | undefined;
}

const none: ReadonlySet<EventType> = new Set();

/**
 * Returns no kinds without a configuration, and the default kinds until the client chooses (D41). A switched-off one
 * counts too: its events stay recorded for seven days, and can be sent later (D34).
 */
export function subscribedTypes(config: Wish | undefined): ReadonlySet<EventType> {
  if (config === undefined) return none;
  return config.events === undefined ? defaultEventTypes : new Set(config.events.filter(isEventType));
}

export interface SubscribedOnlyPorts {
  readonly sink: EventSink;
  readonly wanted: SubscribedTypes;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/**
 * Every call reads each client's choice, so a PUT counts at once (D41). An unreadable choice drops nothing, because the
 * delivery checks again.
 */
export function subscribedOnly({ sink, wanted, log }: SubscribedOnlyPorts): EventSink {
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
      log('event.wanted_not_read', { clientId, error: errorName(error) });
      return undefined;
    }
  }
}
