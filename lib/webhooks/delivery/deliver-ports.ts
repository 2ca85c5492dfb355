import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { EventType, ServiceEvent } from '../event.ts';
import type { DeliveryState } from './delivery-state.ts';
import type { Pending } from './pending.ts';
import type { Post } from './post-network.ts';
import type { PostAnswer } from './verdict.ts';

export type SwitchOffReason = 'gone' | 'failing';

/** Where a client receives, now. */
export interface Receiver {
  readonly url: string;
  /** Which state of the configuration this is. */
  readonly version: number;
  /** The kinds of event that it takes (D41). */
  readonly wanted: ReadonlySet<EventType>;
  /** The secrets that sign now, newest first. */
  readonly secrets: readonly string[];
}

export interface DeliveryStates {
  /**
   * Replaces the state of a client by what `decide` makes of it, as one step; undefined leaves it. Returns the state that is
   * then there. Throws when the store cannot be reached or the state will not hold still.
   */
  change(
    clientId: number,
    decide: (state: DeliveryState) => DeliveryState | undefined,
  ): Promise<{ readonly changed: boolean; readonly state: DeliveryState }>;
}

/** What waits for the receivers of clients: for each a list in the order in which it is due. */
export interface WaitingList {
  /** Puts the event at its place in the list of its client; at the same place it takes the place of itself. */
  put(pending: Pending): Promise<void>;
  /** Takes it from that place, if it is there. */
  remove(pending: Pending): Promise<void>;
  /** The list as it is while it is read; undefined is what a later version has put there, and this one cannot read. */
  pages(clientId: number): AsyncIterable<readonly (Pending | undefined)[]>;
}

export interface WakeQueue {
  /** Has a run look at what waits for a client after `delaySeconds`, at most 900. */
  wakeLater(clientId: number, delaySeconds: number): Promise<void>;
}

export interface DeliverPorts {
  readonly records: { record(event: ServiceEvent): Promise<void> };
  readonly receivers: {
    /** Undefined when the client has none, or it is switched off. */
    find(clientId: number): Promise<Receiver | undefined>;
    /** False, and nothing done, when the configuration is no longer the one that was read. */
    switchOff(clientId: number, version: number, reason: SwitchOffReason): Promise<boolean>;
  };
  readonly states: DeliveryStates;
  readonly list: WaitingList;
  readonly queue: WakeQueue;
  readonly post: (post: Post) => Promise<PostAnswer>;
  /** Unlike that of any other run. */
  readonly newOwner: () => string;
  readonly nowMs: () => number;
  /** Time until the function is killed. */
  readonly remainingMs: () => number;
  readonly random: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}
