import { type NumberPace, unknownPace } from '../../lib/messages/pace/number-pace.ts';
import { type NumberPaces, PaceContended } from '../../lib/messages/pace/number-paces.ts';
import { fittingCodes, type UrgentCapacity } from '../../lib/messages/pace/urgent.ts';
import { type Caller, nothingFails } from './messages-table/memory-table.ts';

interface PausingCaller extends Caller {
  readonly pause: (ms: number) => Promise<void>;
}

/** Any number of runs share the paces of numbers and their urgent tenths. */
export class MemoryNumbers {
  writes = 0;
  readonly stored = new Map<string, NumberPace>();
  readonly #random: () => number;
  readonly #tenths = new Map<string, number>();

  constructor(random: () => number = () => 0) {
    this.#random = random;
  }

  paceOf(phoneNumberId: string): NumberPace {
    return this.stored.get(phoneNumberId) ?? unknownPace;
  }

  /** `firstPauseMs` is the backoff after the second conflict of a write; it doubles up to 32 times its value. */
  paces(run: PausingCaller, nowMs: () => number, firstPauseMs = 10): NumberPaces {
    const find = (phoneNumberId: string) => run.call('findPace', () => this.paceOf(phoneNumberId));
    return {
      find,
      change: async (phoneNumberId, seen, change) => {
        const sinceMs = nowMs();
        let current = seen ?? (await find(phoneNumberId));
        for (let tries = 1; tries <= 40; tries += 1) {
          const changed = change(current, nowMs() - sinceMs);
          if (changed.pace === current) return changed;
          const pace = { ...changed.pace, version: current.version + 1 };
          const before = current.version;
          const existing = await run.call('changePace', () => {
            this.writes += 1;
            const stored = this.paceOf(phoneNumberId);
            // A repeated write finds its own result.
            if (stored === pace) return undefined;
            if (stored.version !== before) return stored;
            this.stored.set(phoneNumberId, pace);
            return undefined;
          });
          if (existing === undefined) return { pace, result: changed.result };
          const longestMs = firstPauseMs === 10 ? 200 : 32 * firstPauseMs;
          if (tries > 1) await run.pause(this.#random() * Math.min(longestMs, firstPauseMs * 2 ** (tries - 1)));
          current = tries === 1 ? existing : await find(phoneNumberId);
        }
        throw new PaceContended();
      },
    };
  }

  urgentCapacity(run: Caller): UrgentCapacity {
    return {
      take: (phoneNumberId, { sizes, everyMs, nowMs, latestMs }) =>
        run.call('takeTenth', () => {
          const firstMs = Math.max(nowMs, this.#tenths.get(phoneNumberId) ?? 0);
          const fitting = fittingCodes(sizes, { everyMs, leftMs: latestMs - firstMs });
          if (fitting > 0) this.#tenths.set(phoneNumberId, firstMs + fitting * everyMs);
          return Array.from({ length: fitting }, (_, at) => firstMs + at * everyMs);
        }),
    };
  }
}

/** Keeps paces of numbers for tests about other subjects: no call fails or takes time. */
export function memoryPaces(): NumberPaces & Pick<MemoryNumbers, 'stored'> {
  const numbers = new MemoryNumbers();
  const run = { ...nothingFails, pause: async () => undefined };
  return { stored: numbers.stored, ...numbers.paces(run, () => 0) };
}

/** Keeps the urgent tenths of numbers, for tests about other subjects. */
export function memoryUrgentCapacity(): UrgentCapacity {
  return new MemoryNumbers().urgentCapacity(nothingFails);
}
