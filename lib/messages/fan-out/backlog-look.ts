import * as v from 'valibot';
import { heldLease } from '../../aws/lease.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import type { RoundMessage } from '../accept/round-message.ts';
import { type BacklogEntry, undecidedMs } from '../dispatch/backlog.ts';
import { type DispatchItem, DispatchItemSchema } from '../dispatch/item.ts';
import { roundAfterLast } from './dispatch-rounds.ts';

// A look at the backlog each minute finds what no message of the fan-out queue carries on: its wake was never queued,
// or was purged, removed as a letter, or lost.

// A wake too many is harmless: it finds the round over or held. Yet a queue that is behind must not fill with them, so
// a dispatch that stays late is woken ever more rarely.

/** A wake that is less late than this is still on its way. */
const lateMs = 5_000;

const minuteMs = 60_000;

/** A dispatch this late waits although it was woken: somebody must look. */
const stuckMinutes = 8;

export interface BacklogLook {
  readonly entry: BacklogEntry;
  /** As it is stored; absent while the dispatch is undecided. */
  readonly item: unknown;
}

export interface LookPorts {
  readonly backlog: {
    /** Yields pages of what is due at this time, strongly consistent. */
    due(atMs: number): AsyncIterable<readonly BacklogLook[]>;
    remove(entry: BacklogEntry): Promise<void>;
  };
  readonly withdraw: (dispatchId: string) => Promise<unknown>;
  readonly wake: (message: RoundMessage, delaySeconds: number) => Promise<void>;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

export type EntryStanding = 'undecided' | 'dead' | 'over' | 'waiting' | 'late' | 'stuck';

/** Returns what the look does with an entry: withdraw the dead, remove what is over, wake what is late. */
export function standingOfEntry(entry: BacklogEntry, item: DispatchItem | undefined, nowMs: number): EntryStanding {
  const { withdrawnAtMs, head, round } = item ?? {};
  if (withdrawnAtMs !== undefined || round?.round === roundAfterLast) return 'over';
  if (head === undefined) return nowMs - entry.enteredAtMs < undecidedMs ? 'undecided' : 'dead';
  if (heldLease(round?.lease, nowMs) !== undefined) return 'waiting';
  // A dead run leaves its lease; its message returns within a minute.
  const dueMs = round?.dueMs ?? round?.lease?.untilMs ?? entry.enteredAtMs;
  if (nowMs - dueMs < lateMs || !isWokenAfter(Math.floor((nowMs - dueMs) / minuteMs))) return 'waiting';
  return nowMs - dueMs < stuckMinutes * minuteMs ? 'late' : 'stuck';
}

/** Wakes in the first minute, after 1, 2, 4 and 8 minutes, then each quarter of an hour. */
function isWokenAfter(minutes: number): boolean {
  return minutes < 15 ? [0, 1, 2, 4, 8].includes(minutes) : minutes % 15 === 0;
}

/**
 * Looks at all that is due. Throws when table or queue cannot be reached: the next look is a minute away. Throws after
 * all others when an item cannot be read, so that the function's alarm tells it.
 */
export async function lookAtBacklog(ports: LookPorts): Promise<void> {
  let unreadable = 0;
  for await (const page of ports.backlog.due(ports.nowMs() + minuteMs)) {
    for (const { entry, item } of page) {
      const read = v.safeParse(v.optional(DispatchItemSchema), item);
      if (read.success) {
        await lookAt(entry, read.output, ports);
        continue;
      }
      unreadable += 1;
      ports.log('dispatch.unreadable', { dispatchId: entry.dispatchId });
    }
  }
  if (unreadable > 0) throw new Error(`${unreadable} dispatches cannot be read: dispatch.unreadable names them`);
}

async function lookAt(entry: BacklogEntry, item: DispatchItem | undefined, ports: LookPorts): Promise<void> {
  const { dispatchId, clientId, correlationId, enteredAtMs: acceptedAtMs } = entry;
  const standing = standingOfEntry(entry, item, ports.nowMs());
  if (standing === 'dead') {
    // The next look removes the entry.
    await ports.withdraw(dispatchId);
    ports.log('dispatch.withdrawn', { dispatchId, clientId });
  }
  if (standing === 'over') await ports.backlog.remove(entry);
  if (standing !== 'late' && standing !== 'stuck') return;
  await ports.wake({ dispatchId, clientId, acceptedAtMs, correlationId, round: item?.round?.round }, 0);
  if (standing === 'stuck') count('RoundsLost');
  ports.log('dispatch.round_lost', { dispatchId, clientId });
}
