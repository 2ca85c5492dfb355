import type { BacklogEntry } from '../dispatch/backlog.ts';
import type { DispatchItem } from '../dispatch/item.ts';
import { headIn, standingIn, stateOf } from '../dispatch/item.ts';
import { dueMsOfEntry } from '../sender/entry-progress.ts';
import { recipientsLeft } from '../sender/left-in-entry.ts';

/** A dispatch in the backlog of a number, which shares its turns from then on. */
export interface WaitingDispatch {
  readonly clientId: number;
  /** About so many have not been called. */
  readonly recipients: number;
  readonly dueMs: number;
  /** It has every second turn at most. */
  readonly isFront: boolean;
}

export interface WaitingDispatches {
  /** Rejects when the store cannot be reached. */
  of(phoneNumberId: string): Promise<readonly WaitingDispatch[]>;
}

/** An entry with the item of its dispatch. */
export interface ReadEntry {
  readonly entry: BacklogEntry;
  readonly item: DispatchItem;
}

/**
 * Returns the dispatches that need turns: none that has not begun, is stopped, or waits for a hold. Entries that were
 * not read count as the mean of the others.
 */
export function waitingOf(read: readonly ReadEntry[], unread: readonly BacklogEntry[]): readonly WaitingDispatch[] {
  const known = read.flatMap(({ entry, item }) => {
    const head = headIn(item);
    const { stop, parked } = stateOf(item);
    if (head === undefined || standingIn(item) !== 'begun' || stop !== undefined || parked !== undefined) return [];
    const recipients = recipientsLeft(entry, head);
    return recipients === 0 ? [] : [waiting(entry, recipients)];
  });
  if (known.length === 0) return [];
  const mean = Math.ceil(known.reduce((sum, { recipients }) => sum + recipients, 0) / read.length);
  return [...known, ...unread.map((entry) => waiting(entry, mean))];
}

function waiting(entry: BacklogEntry, recipients: number): WaitingDispatch {
  const { clientId, front = false } = entry;
  return { clientId, recipients, dueMs: dueMsOfEntry(entry), isFront: front };
}
