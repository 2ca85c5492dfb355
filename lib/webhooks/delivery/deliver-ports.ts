import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { EventType, ServiceEvent } from '../event.ts';
import type { DeliveryState } from './delivery-state.ts';
import type { Pending } from './pending.ts';
import type { Post } from './post-network.ts';
import type { PostAnswer } from './post-result.ts';

export type SwitchOffReason = 'gone' | 'failing';

export interface Receiver {
  readonly url: string;
  /** The version of the configuration. */
  readonly version: number;
  /** The kinds of event that it takes (D41). */
  readonly wanted: ReadonlySet<EventType>;
  /** The secrets that sign now, newest first. */
  readonly secrets: readonly string[];
}

export interface DeliveryStates {
  /**
   * Changes a client's state by compare-and-set; undefined from `decide` leaves it. Throws when the store fails or
   * contention does not end.
   */
  change(
    clientId: number,
    decide: (state: DeliveryState) => DeliveryState | undefined,
  ): Promise<{ readonly changed: boolean; readonly state: DeliveryState }>;
}

/** For each client, in the order of due times. */
export interface Backlog {
  /** Puts the event at its place in its client's list; idempotent. */
  put(pending: Pending): Promise<void>;
  remove(pending: Pending): Promise<void>;
  /** The list as it stands at each read. Undefined is an event of a later version, which this one cannot read. */
  pages(clientId: number): AsyncIterable<readonly (Pending | undefined)[]>;
}

export interface WakeQueue {
  /** Wakes a run for a client after `delaySeconds`, at most 900. */
  wakeLater(clientId: number, delaySeconds: number): Promise<void>;
}

export interface DeliverPorts {
  readonly records: { record(event: ServiceEvent): Promise<void> };
  readonly receivers: {
    /** Undefined when the client has no receiver, or it is switched off. */
    find(clientId: number): Promise<Receiver | undefined>;
    /** False, without effect, when the configuration has changed since this version. */
    switchOff(clientId: number, version: number, reason: SwitchOffReason): Promise<boolean>;
  };
  readonly states: DeliveryStates;
  readonly list: Backlog;
  readonly queue: WakeQueue;
  readonly post: (post: Post) => Promise<PostAnswer>;
  readonly newOwner: () => string;
  readonly nowMs: () => number;
  /** Time until the function is killed. */
  readonly remainingMs: () => number;
  readonly random: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}
