import type { EventAttempts } from './event-attempts.ts';
import type { World } from './state.ts';

export interface ControlRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** The running simulator. A reset replaces its world. */
export interface Simulation {
  readonly world: World;
  /** Changes with every reset and every start. */
  readonly worldId: string;
  /** Address of the service on this machine; survives a reset. */
  readonly service: { url: string | undefined };
  /** Counts control calls that changed something. */
  readonly controlled: { times: number };
  /** Webhook attempts of the service; they survive a reset. */
  readonly attempts: EventAttempts;
  reset(): void;
  /** Sends the due webhooks; resolves when each was tried once. */
  emit(): Promise<void>;
}

export interface ControlRoute {
  readonly method: string;
  readonly path: string;
  readonly what: string;
  /** For a route that is no GET and changes nothing: pages do not reload. */
  readonly changesNothing?: true;
  /** `id` is decoded: ids of messages hold slashes. */
  readonly run: (simulation: Simulation, request: ControlRequest, id: string) => unknown;
}

/** Query parameters; an empty one counts as absent. */
export function given(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries([...query].filter(([, value]) => value !== ''));
}
