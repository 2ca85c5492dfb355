import * as v from 'valibot';
import { backoff, type Pause } from '../../aws/pause.ts';
import type { Table } from '../../aws/table.ts';
import { changeVersioned, readVersioned, type VersionedItem } from '../../aws/versioned-item.ts';
import { holdsKey } from '../dispatch/items.ts';
import { type HoldRule, type Holds, noHolds } from './hold.ts';
import { type Probe, probeOf, probeTaken } from './questions.ts';
import type { HoldableMessage } from './scope.ts';

const HoldSchema = v.object({
  sinceMs: v.number(),
  code: v.string(),
  untilMs: v.optional(v.number()),
  nextAskMs: v.number(),
  asks: v.number(),
  askedUntilMs: v.optional(v.number()),
  afterTaken: v.optional(v.literal(true)),
  takenMs: v.optional(v.number()),
  byReading: v.optional(v.literal(true)),
  verdict: v.optional(
    v.object({
      state: v.picklist(['failed', 'expired']),
      code: v.string(),
      reason: v.optional(v.string()),
      atMs: v.number(),
    }),
  ),
});

const TemplateTimesSchema = v.record(v.string(), v.number());

const HoldsSchema = v.object({
  holds: v.record(v.string(), HoldSchema),
  silences: v.record(v.string(), v.object({ runs: v.number(), atMs: v.number() })),
  restoredMs: v.optional(v.record(v.string(), v.number())),
  reviewedMs: v.optional(TemplateTimesSchema),
  marketingMs: v.optional(TemplateTimesSchema),
  unproven: v.optional(v.record(v.string(), v.object({ atMs: v.number(), asks: v.number() }))),
});

/** After a day a hold has ended all that it stopped; a later message finds out by itself. */
const holdMemorySeconds = 30 * 86_400;

/** A worker that loses this often leaves the change to others, which saw the same. */
const mostTries = 5;
const conflictPause = backoff(10, 200);

/** Every method rejects when the store cannot be reached. */
export interface HoldsOfWabas {
  /** Reads strongly. */
  find(wabaId: string): Promise<Holds>;
  /** Applies a rule and returns what is stored then. Returns undefined when other writers always won. */
  change(wabaId: string, rule: HoldRule): Promise<Holds | undefined>;
  /**
   * Takes the probe of all holds on a message (hold.ts, `probeTaken`). Returns undefined when another worker probes,
   * none is due, or no hold is left.
   */
  takeProbe(wabaId: string, message: HoldableMessage): Promise<Probe | undefined>;
}

export function holdStore(
  table: Pick<Table, 'client' | 'name' | 'nowMs'>,
  { pause = conflictPause }: { readonly pause?: Pause } = {},
): HoldsOfWabas {
  const { nowMs } = table;
  const itemOf = (wabaId: string): VersionedItem<Holds> => ({
    ...{ table, key: holdsKey(wabaId) },
    stateOf: holdsOf,
    itemOf: (holds) => ({ ...holds, expiresAtSeconds: Math.ceil(nowMs() / 1_000) + holdMemorySeconds }),
  });
  return {
    find: async (wabaId) => (await readVersioned(itemOf(wabaId), { consistent: true })).state,

    change: async (wabaId, rule) => {
      const unnamed = (holds: Holds) => ({ state: rule(holds), result: undefined });
      return (await changeVersioned(itemOf(wabaId), unnamed, { mostTries, pause }))?.state;
    },

    takeProbe: async (wabaId, message) => {
      const rule = (holds: Holds) => {
        const state = probeTaken(message, nowMs())(holds);
        return { state, result: state === holds ? undefined : probeOf(state, message) };
      };
      return (await changeVersioned(itemOf(wabaId), rule, { mostTries, pause }))?.result;
    },
  };
}

export function holdsOf(item: unknown): Holds {
  return item === undefined ? noHolds : v.parse(HoldsSchema, item);
}
