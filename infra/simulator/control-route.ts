import type { EventAttempts } from './event-attempts.ts';
import type { World } from './state.ts';

export interface ControlRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** Where the world lives; a reset puts a new one in its place. */
export interface Simulation {
  readonly world: World;
  /** Which world it is: another after a reset, and after another start. */
  readonly worldId: string;
  /** Where the service answers on this machine: a reset changes nothing of it. */
  readonly service: { url: string | undefined };
  /** How many control calls have changed something. */
  readonly controlled: { times: number };
  /** What the service told its clients: of the service too, not of the world. */
  readonly attempts: EventAttempts;
  reset(): void;
  /** Sends the webhooks that are due; resolves when each was tried once. */
  emit(): Promise<void>;
}

export interface ControlRoute {
  readonly method: string;
  readonly path: string;
  readonly what: string;
  /** Of one that is no GET, and leaves the world as it is all the same: pages have nothing to read again. */
  readonly changesNothing?: true;
  /** `id` is decoded: ids of messages hold slashes. */
  readonly run: (simulation: Simulation, request: ControlRequest, id: string) => unknown;
}

/** The query's values; one left empty counts as not given. */
export function given(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries([...query].filter(([, value]) => value !== ''));
}
