import * as v from 'valibot';
import { backoff } from '../../aws/pause.ts';
import type { Table } from '../../aws/table.ts';
import { changeVersioned, readVersioned, type VersionedItem } from '../../aws/versioned-item.ts';
import { breakerKey } from '../dispatch/items.ts';
import { type Breaker, type Breakers, unknownBreaker } from './breaker.ts';

const BreakerSchema = v.object({
  version: v.number(),
  silentWabas: v.record(v.string(), v.number()),
  open: v.optional(v.object({ sinceMs: v.number(), probeAtMs: v.number(), failedProbes: v.number() })),
});

/** Nothing about an outage matters this long after it. */
const breakerMemorySeconds = 30 * 86_400;

/** A worker that loses this often leaves the change to others, which saw the same. */
const mostTries = 3;
const conflictPause = backoff(10, 200);

export function breakerStore(table: Pick<Table, 'client' | 'name' | 'nowMs'>): Breakers {
  const { nowMs } = table;
  const item: VersionedItem<Breaker> = {
    ...{ table, key: breakerKey },
    stateOf: breakerOf,
    itemOf: ({ open, silentWabas }) => ({
      silentWabas,
      open,
      expiresAtSeconds: Math.ceil(nowMs() / 1_000) + breakerMemorySeconds,
    }),
  };
  return {
    // Costs half a read unit per run. A slightly stale state is that of a run that began a moment earlier.
    find: async () => (await readVersioned(item, { consistent: false })).state,

    change: async (seen, rule) => {
      const changed = await changeVersioned(
        item,
        (breaker) => {
          const next = rule(breaker);
          return { state: next ?? breaker, result: next !== undefined };
        },
        { seen: { state: seen, version: seen.version }, mostTries, pause: conflictPause },
      );
      return changed?.result ? { ...changed.state, version: changed.version } : undefined;
    },
  };
}

/** Parses the stored breaker; an absent one is closed. */
export function breakerOf(item: unknown): Breaker {
  if (item === undefined) return unknownBreaker;
  const { open, ...breaker } = v.parse(BreakerSchema, item);
  return { ...breaker, open };
}
