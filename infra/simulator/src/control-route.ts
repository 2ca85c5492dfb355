import type { EventAttempts } from './event-attempts.ts';
import type { KnownService } from './known-service.ts';
import type { World } from './state.ts';

export interface ControlRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** A reset replaces the world of the running simulator. */
export interface Simulation {
  readonly world: World;
  /** The id changes with every reset and every start. */
  readonly worldId: string;
  /** What is known of the service survives a reset. */
  readonly service: KnownService;
  readonly controlled: { times: number };
  /** The service's webhook attempts survive a reset. */
  readonly attempts: EventAttempts;
  reset(): void;
  /** Sends the due webhooks; resolves when each was tried once. */
  emit(): Promise<void>;
}

export interface ControlRoute {
  readonly method: string;
  readonly path: string;
  readonly what: string;
  /** Pages do not reload after a route that is no GET and changes nothing. */
  readonly changesNothing?: true;
  /** `id` is decoded: ids of messages hold slashes. */
  readonly run: (simulation: Simulation, request: ControlRequest, id: string) => unknown;
}

/** Returns the query parameters; an empty one counts as absent. */
export function givenParameters(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries([...query].filter(([, value]) => value !== ''));
}
