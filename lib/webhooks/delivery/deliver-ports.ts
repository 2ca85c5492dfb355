import type { DelayedQueue } from '../../aws/sqs-batch.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { EventType, ServiceEvent } from '../event.ts';
import type { DeliveryState } from './delivery-state.ts';
import type { Pending } from './pending.ts';
import type { Post } from './post-network.ts';
import type { PostAnswer } from './post-result.ts';

export type SwitchOffReason = 'gone' | 'failing';

export interface Receiver {
  readonly url: string;
  /** The configuration has this version. */
  readonly version: number;
  /** The receiver takes these kinds of event (D41). */
  readonly wanted: ReadonlySet<EventType>;
  /** These secrets sign now, the newest first. */
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

/** Each client has a list of waiting events, in the order of due times. */
export interface Backlog {
  /** Puts the event at its place in its client's list. Is idempotent. */
  put(pending: Pending): Promise<void>;
  remove(pending: Pending): Promise<void>;
  /**
   * Yields the list as it stands at each read. Undefined stands for an event of a later version, which this one cannot
   * read.
   */
  pages(clientId: number): AsyncIterable<readonly (Pending | undefined)[]>;
}

export interface DeliverPorts {
  readonly records: { record(event: ServiceEvent): Promise<void> };
  readonly receivers: {
    /** Returns undefined when the client has no receiver, or it is switched off. */
    find(clientId: number): Promise<Receiver | undefined>;
    /** Returns false, without effect, when the configuration has changed since this version. */
    switchOff(clientId: number, version: number, reason: SwitchOffReason): Promise<boolean>;
  };
  readonly states: DeliveryStates;
  readonly list: Backlog;
  /** Wakes a run for a client. */
  readonly queue: DelayedQueue<number>;
  readonly post: (post: Post) => Promise<PostAnswer>;
  readonly newOwner: () => string;
  readonly nowMs: () => number;
  /** Returns the time until Lambda kills the function. */
  readonly remainingMs: () => number;
  readonly random: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}
