import * as v from 'valibot';
import type { Item } from '../../aws/dynamodb-batch.ts';
import { OutOfReach } from '../../aws/out-of-reach.ts';
import { backoff, type Pause } from '../../aws/pause.ts';
import type { Table } from '../../aws/table.ts';
import { changeVersioned, readVersioned, type Versioned, type VersionedItem } from '../../aws/versioned-item.ts';
import { paceKey } from '../dispatch/items.ts';
import { type KnownPace, unknownPace } from './known-pace.ts';

export interface KnownPaces {
  /** Reads strongly. */
  find(phoneNumberId: string): Promise<KnownPace>;
  /** Applies a rule by compare-and-set; an unchanged pace is not written. Rejects when other writers always won. */
  change(phoneNumberId: string, rule: (pace: KnownPace) => KnownPace): Promise<KnownPace>;
}

const PaceItemSchema = v.object({
  version: v.number(),
  learned: v.optional(v.object({ perSecond: v.number(), atMs: v.number() })),
  capped: v.optional(v.object({ perSecond: v.number(), untilMs: v.number() })),
  pairs: v.optional(v.record(v.string(), v.number())),
  slowUntilMs: v.optional(v.number()),
});

/** A quiet number is forgotten after this: longer than anything that is known of it counts. */
const memorySeconds = 30 * 86_400;

/** Its senders, workers of small requests and an operator write it, each rarely. */
const mostTries = 10;
const conflictPause: Pause = backoff(10, 200);

/** Keeps what is known of the paces of numbers in the messages table. */
export function knownPaceStore(
  table: Pick<Table, 'client' | 'name' | 'nowMs'>,
  { newWriter, pause = conflictPause }: { readonly newWriter: () => string; readonly pause?: Pause | undefined },
): KnownPaces {
  const itemOf = (phoneNumberId: string): VersionedItem<KnownPace> => ({
    ...{ table, key: paceKey(phoneNumberId) },
    stateOf: (item) => (item === undefined ? unknownPace : paceIn(item)),
    itemOf: (pace) => ({
      ...itemOfPace(pace),
      expiresAtSeconds: Math.ceil(table.nowMs() / 1_000) + memorySeconds,
    }),
  });

  return {
    find: async (phoneNumberId) => asStored(await readVersioned(itemOf(phoneNumberId), { consistent: true })),

    change: async (phoneNumberId, rule) => {
      const changed = await changeVersioned(
        itemOf(phoneNumberId),
        (before) => ({ state: rule(before), result: undefined }),
        { mostTries, pause, newWriter },
      );
      if (changed === undefined) throw new OutOfReach(`the pace of ${phoneNumberId} changed under ${mostTries} tries`);
      return asStored(changed);
    },
  };
}

function asStored({ state, version }: Versioned<KnownPace>): KnownPace {
  return state.version === version ? state : { ...state, version };
}

/** Parses a stored item. Throws on one of another form. */
export function paceIn(item: unknown): KnownPace {
  const { pairs = {}, ...known } = v.parse(PaceItemSchema, item);
  const blocked = Object.entries(pairs).map(([recipientHash, untilMs]) => ({ recipientHash, untilMs }));
  // A map has no order, so the oldest entries are those that end first.
  return { ...known, pairs: blocked.toSorted((one, other) => one.untilMs - other.untilMs) };
}

/** Returns the item without key, version and writer (aws/versioned-item.ts). */
export function itemOfPace({ learned, capped, pairs, slowUntilMs }: KnownPace): Item {
  return {
    ...{ learned, capped, slowUntilMs },
    ...(pairs.length === 0
      ? {}
      : { pairs: Object.fromEntries(pairs.map(({ recipientHash, untilMs }) => [recipientHash, untilMs])) }),
  };
}
