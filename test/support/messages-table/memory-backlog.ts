import type { RunStates } from '../../../lib/aws/leased-run.ts';
import type { Versioned } from '../../../lib/aws/versioned-item.ts';
import { type BacklogEntry, laterThanMs, newEntry } from '../../../lib/messages/dispatch/backlog.ts';
import type { DispatchHead } from '../../../lib/messages/dispatch/head.ts';
import { dueMsOfEntry } from '../../../lib/messages/sender/entry-progress.ts';
import type { SenderBacklog, SenderState } from '../../../lib/messages/sender/sender-ports.ts';
import type { NewsBacklog } from '../../../lib/messages/sender/stop-news.ts';
import type { Caller } from './memory-table.ts';

const noState: Versioned<SenderState> = { state: { wakeAtMs: 0 }, version: 0 };

/** The backlog of all numbers and the leases of their senders, in memory, for any number of runs. */
export class MemoryBacklog {
  /** The keys are dispatch ids. */
  readonly entries = new Map<string, BacklogEntry>();
  /** What is due later than in a quarter of an hour stands apart. */
  readonly later = new Map<string, BacklogEntry>();
  /** Senders have read so many entries. */
  entriesRead = 0;
  readonly states = new Map<string, Versioned<SenderState>>();

  enter(head: DispatchHead, { front }: Pick<BacklogEntry, 'front'> = {}): void {
    const { pk, sk: _key, ...whole } = newEntry(head);
    // Nothing of it ever opens: it ends at once.
    const entry = Number.isFinite(whole.notBeforeMs) ? whole : { ...whole, notBeforeMs: head.acceptedAtMs };
    const place = pk.startsWith('LATER') && entry === whole ? this.later : this.entries;
    if (!this.entries.has(head.dispatchId)) place.set(head.dispatchId, front ? { ...entry, front } : entry);
  }

  get size(): number {
    return this.entries.size + this.later.size;
  }

  /** Moves what is due before then to where senders look. */
  moveLater(untilMs: number): void {
    for (const [dispatchId, entry] of this.later) if (entry.notBeforeMs < untilMs) this.#bring(dispatchId);
  }

  /** Moves what is due soon to where senders look, and returns what is due before then (sender/backlog-store.ts). */
  dueBefore(atMs: number): readonly BacklogEntry[] {
    this.moveLater(atMs + laterThanMs);
    return [...this.entries.values()].filter((entry) => dueMsOfEntry(entry) <= atMs);
  }

  ofNews(run: Caller): NewsBacklog {
    return {
      bring: async ({ dispatchId }, rule) => {
        const entry = await run.call('bringEntry', () => this.#bring(dispatchId));
        return entry && (await this.ofSender(run).change(entry, rule));
      },
    };
  }

  #bring(dispatchId: string): BacklogEntry | undefined {
    const later = this.later.get(dispatchId);
    if (later !== undefined && !this.entries.has(dispatchId)) this.entries.set(dispatchId, later);
    this.later.delete(dispatchId);
    return this.entries.get(dispatchId);
  }

  ofSender(run: Caller): SenderBacklog {
    return {
      of: (phoneNumberId) =>
        run.call('lookAtBacklog', () => {
          const found = [...this.entries.values()].filter((entry) => entry.phoneNumberId === phoneNumberId);
          this.entriesRead += found.length;
          return found;
        }),
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
}
