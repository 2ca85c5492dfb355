import { closedMs, placesIn, type Share, secondOf } from '../../lib/messages/sender/places.ts';
import type { Places } from '../../lib/messages/sender/places-store.ts';
import type { Caller } from './messages-table/memory-table.ts';

/** The counters of all numbers and seconds, in memory, as places-store.ts keeps them. */
export class MemoryPlaces {
  readonly #counters = new Map<string, number>();
  /** Closed seconds had their last place then. */
  readonly #takenUntilMs = new Map<string, number>();

  ofRun(run: Caller): Places {
    return {
      take: (phoneNumberId, share, wanted) =>
        run
          .call('takePlaces', () => {
            const all: number[] = [];
            for (const fromMs of secondsFrom(wanted.nowMs)) {
              const name = nameOf(phoneNumberId, share, fromMs);
              const left = { ...wanted, count: wanted.count - all.length };
              const { places, nextMs } = placesIn(fromMs, this.#counters.get(name), left);
              this.#counters.set(name, nextMs);
              all.push(...places);
            }
            return all;
          })
          .catch(() => []),
      close: (phoneNumberId, nowMs) =>
        run
          .call('closePlaces', () => {
            let endMs = nowMs;
            for (const fromMs of secondsFrom(nowMs)) {
              const name = nameOf(phoneNumberId, 'free', fromMs);
              const countedMs = this.#counters.get(name) ?? 0;
              if (countedMs < closedMs(fromMs)) {
                this.#takenUntilMs.set(name, countedMs);
                this.#counters.set(name, closedMs(fromMs));
              }
              endMs = Math.max(endMs, this.#takenUntilMs.get(name) ?? countedMs);
            }
            return endMs;
          })
          .catch(() => secondOf(nowMs) + 2_000),
    };
  }
}

const secondsFrom = (nowMs: number) => [secondOf(nowMs), secondOf(nowMs) + 1_000];
const nameOf = (phoneNumberId: string, share: Share, fromMs: number) => `${phoneNumberId} ${share} ${fromMs}`;
