import type { RunStates } from '../../../lib/aws/leased-run.ts';
import type { Versioned } from '../../../lib/aws/versioned-item.ts';
import { type BacklogEntry, backlogKey, newEntry } from '../../../lib/messages/dispatch/backlog.ts';
import type { DispatchHead } from '../../../lib/messages/dispatch/head.ts';
import { withNews } from '../../../lib/messages/sender/entry-progress.ts';
import type { SenderBacklog, SenderState } from '../../../lib/messages/sender/sender-ports.ts';
import type { Caller } from './memory-table.ts';

const noState: Versioned<SenderState> = { state: { wakeAtMs: 0 }, version: 0 };

/** The backlog of all numbers and the leases of their senders, in memory, for any number of runs. */
export class MemoryBacklog {
  /** The keys are dispatch ids. */
  readonly entries = new Map<string, BacklogEntry>();
  readonly states = new Map<string, Versioned<SenderState>>();
  /** These entries stand apart, where no sender sees them, until they are moved. */
  readonly #later = new Set<string>();

  enter(head: DispatchHead, { front }: Pick<BacklogEntry, 'front'> = {}): void {
    const { pk: partition, sk: _key, ...whole } = newEntry(head);
    const { dispatchId } = head;
    if (this.entries.has(dispatchId)) return;
    // Nothing of it ever opens: it ends at once.
    const isEver = Number.isFinite(whole.notBeforeMs);
    const entry = isEver ? whole : { ...whole, notBeforeMs: head.acceptedAtMs };
    this.entries.set(dispatchId, front ? { ...entry, front } : entry);
    if (isEver && partition !== backlogKey(whole).pk) this.#later.add(dispatchId);
  }

  /** Moves what is due before then to where senders look, as the look at the backlog does. */
  moveLater(untilMs: number): void {
    for (const dispatchId of this.#later) {
      const { notBeforeMs = 0 } = this.entries.get(dispatchId) ?? {};
      if (notBeforeMs < untilMs) this.#later.delete(dispatchId);
    }
  }

  /** Something was written to the dispatch: a later one is moved at once. */
  tellNews(dispatchId: string, nowMs: number): void {
    const entry = this.entries.get(dispatchId);
    if (entry !== undefined) this.#put(withNews(nowMs)(entry));
    this.#later.delete(dispatchId);
  }

  ofSender(run: Caller): SenderBacklog {
    return {
      of: (phoneNumberId) =>
        run.call('lookAtBacklog', () =>
          [...this.entries.values()].filter(
            (entry) => entry.phoneNumberId === phoneNumberId && !this.#later.has(entry.dispatchId),
          ),
        ),
      change: async (entry, rule) => {
        for (let seen: BacklogEntry | undefined = entry; seen !== undefined; ) {
          const before: BacklogEntry = seen;
          const changed = rule(before);
          if (changed === before) return before;
          const next = { ...changed, version: (before.version ?? 0) + 1 };
          const found: BacklogEntry | undefined = await run.call('changeEntry', () => {
            const stored = this.entries.get(entry.dispatchId);
            // A repeated write finds its own result.
            if (stored === undefined || stored === next || stored.version !== before.version) return stored;
            this.entries.set(entry.dispatchId, next);
            return next;
          });
          if (found === next) return next;
          seen = found;
        }
        return undefined;
      },
      remove: ({ dispatchId }) => run.call('removeOwnEntry', () => void this.entries.delete(dispatchId)),
    };
  }

  /** Compare-and-set, as versioned-item.ts has it. */
  statesOf(run: Caller, key: string): RunStates<SenderState> {
    const read = () => this.states.get(key) ?? noState;
    return {
      change: async (decide, seen) => {
        let current = seen ?? (await run.call('findLease', read));
        for (;;) {
          const state = decide(current.state);
          if (state === undefined) return { ...current, changed: false };
          const next = { state, version: current.version + 1 };
          const before = current.version;
          const found = await run.call('changeLease', () => {
            const stored = read();
            if (stored === next || stored.version !== before) return stored;
            this.states.set(key, next);
            return next;
          });
          if (found === next) return { ...next, changed: true };
          current = found;
        }
      },
    };
  }

  #put(entry: BacklogEntry): void {
    this.entries.set(entry.dispatchId, { ...entry, version: (entry.version ?? 0) + 1 });
  }
}
