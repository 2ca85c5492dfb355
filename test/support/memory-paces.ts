import { type KnownPace, unknownPace } from '../../lib/messages/pace/known-pace.ts';
import type { KnownPaces } from '../../lib/messages/pace/known-pace-store.ts';
import type { Caller } from './messages-table/memory-table.ts';

/** What is known of the paces of numbers, in memory, for any number of runs. */
export class MemoryPaces {
  readonly stored = new Map<string, KnownPace>();

  of(phoneNumberId: string): KnownPace {
    return this.stored.get(phoneNumberId) ?? unknownPace;
  }

  /** Compare-and-set, as versioned-item.ts has it. */
  ofRun(run: Caller): KnownPaces {
    const find = (phoneNumberId: string) => run.call('findPace', () => this.of(phoneNumberId));
    return {
      find,
      change: async (phoneNumberId, rule) => {
        for (let seen = await find(phoneNumberId); ; ) {
          const before = seen;
          const changed = rule(before);
          if (changed === before) return before;
          const next = { ...changed, version: before.version + 1 };
          seen = await run.call('changePace', () => {
            const stored = this.of(phoneNumberId);
            // A repeated write finds its own result.
            if (stored === next || stored.version !== before.version) return stored;
            this.stored.set(phoneNumberId, next);
            return next;
          });
          if (seen === next) return next;
        }
      },
    };
  }
}
