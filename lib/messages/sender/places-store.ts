import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { absent, equals, type ItemWrite, updateOf } from '../../aws/item-write.ts';
import type { Table } from '../../aws/table.ts';
import { placesKey } from '../dispatch/items.ts';
import { closedMs, latestPlaceMs, placesIn, type Share, secondOf, type WantedPlaces } from './places.ts';

export interface Places {
  /**
   * Takes places of a share within a second from now, or fewer where there are no more. Never throws: a throttled or
   * contended counter has no place, and a lost reply costs places.
   */
  take(phoneNumberId: string, share: Share, wanted: WantedPlaces): Promise<readonly number[]>;
  /** Leaves no free place of this second and the next. Returns when the last place taken is over. Never throws. */
  close(phoneNumberId: string, nowMs: number): Promise<number>;
}

const CounterSchema = v.object({
  nextMs: v.number(),
  /** A sender has closed the second: its last place was over then. */
  takenUntilMs: v.optional(v.number()),
});
type Counter = Readonly<v.InferOutput<typeof CounterSchema>>;

/** Each refusal returns the counter. After so many, others take all that there is. */
const mostTries = 4;

/** The SDK repeats what is throttled for seconds; a code that waits for the sender leaves sooner. */
const longestTakeMs = 500;

const memorySeconds = 3_600;

/** Keeps the counters in the messages table, an item for each second, so that no partition is hot. */
export function placesStore(table: Pick<Table, 'client' | 'name'>, patienceMs = longestTakeMs): Places {
  return {
    take: async (phoneNumberId, share, wanted) => {
      const places: number[] = [];
      for (const fromMs of secondsFrom(wanted.nowMs)) {
        const count = wanted.count - places.length;
        if (count > 0) places.push(...(await takenIn(fromMs, { ...wanted, count })));
      }
      return places;

      async function takenIn(fromMs: number, left: WantedPlaces): Promise<readonly number[]> {
        let seen: number | undefined;
        for (let tries = 0; tries < mostTries; tries += 1) {
          const { places: found, nextMs } = placesIn(fromMs, seen, left);
          if (found.length === 0) return [];
          const write = await written(phoneNumberId, { fromMs, share, seen, nextMs }).catch(() => undefined);
          if (write === undefined) return [];
          if (write.written) return found;
          seen = write.counter.nextMs;
        }
        return [];
      }
    },

    close: async (phoneNumberId, nowMs) => {
      const ends = secondsFrom(nowMs).map(async (fromMs) => await closed(phoneNumberId, fromMs));
      try {
        return Math.max(nowMs, ...(await Promise.all(ends)));
      } catch {
        return latestPlaceMs(nowMs);
      }
    },
  };

  /** Returns when the last place that was taken of the second is over: another part may have closed it before. */
  async function closed(phoneNumberId: string, fromMs: number): Promise<number> {
    const nextMs = closedMs(fromMs);
    for (let seen: Counter | undefined; ; ) {
      if (seen !== undefined && seen.nextMs >= nextMs) return seen.takenUntilMs ?? seen.nextMs;
      const takenUntilMs = seen?.nextMs ?? 0;
      const write = await written(phoneNumberId, { fromMs, share: 'free', seen: seen?.nextMs, nextMs, takenUntilMs });
      if (write.written) return takenUntilMs;
      seen = write.counter;
    }
  }

  async function written(
    phoneNumberId: string,
    {
      fromMs,
      share,
      seen,
      ...counter
    }: { readonly fromMs: number; readonly share: Share; readonly seen: number | undefined } & Counter,
  ): Promise<{ readonly written: boolean; readonly counter: Counter }> {
    const write: ItemWrite<Counter & { readonly expiresAtSeconds: number }> = {
      if: [seen === undefined ? absent('nextMs') : equals('nextMs', seen)],
      set: { ...counter, expiresAtSeconds: Math.ceil(fromMs / 1_000) + memorySeconds },
    };
    const after = await conditionalWrite(
      table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: placesKey({ phoneNumberId, second: fromMs / 1_000, share }),
          ...updateOf(write),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
        { abortSignal: AbortSignal.timeout(patienceMs) },
      ),
    );
    return { written: after.written, counter: after.written ? counter : v.parse(CounterSchema, after.existing) };
  }
}

function secondsFrom(nowMs: number): readonly number[] {
  return [secondOf(nowMs), secondOf(nowMs) + 1_000];
}
