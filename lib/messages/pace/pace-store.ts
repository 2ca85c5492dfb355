import { backoff, type Pause } from '../../aws/pause.ts';
import type { Table } from '../../aws/table.ts';
import { changeVersioned, readVersioned, type Versioned, type VersionedItem } from '../../aws/versioned-item.ts';
import { paceKey } from '../dispatch/items.ts';
import { type NumberPace, unknownPace } from './number-pace.ts';
import { type NumberPaces, PaceContended } from './number-paces.ts';
import { paceItemOf, paceOf } from './pace-items.ts';

/** A quiet number is forgotten after this: longer than any message with a turn can wait. */
const paceMemorySeconds = 30 * 86_400;

/** In each round trip one of a number's contending writers succeeds. */
const mostTries = 40;
const conflictPause: Pause = backoff(10, 200);

/** Keeps paces in the messages table. A reservation that is written twice (versioned-item.ts) leaves slots empty. */
export function paceStore(
  table: Pick<Table, 'client' | 'name' | 'nowMs'>,
  { newWriter, pause = conflictPause }: { readonly newWriter: () => string; readonly pause?: Pause },
): NumberPaces {
  const { nowMs } = table;
  const itemOf = (phoneNumberId: string): VersionedItem<NumberPace> => ({
    ...{ table, key: paceKey(phoneNumberId) },
    stateOf: (item) => (item === undefined ? unknownPace : paceOf(item)),
    itemOf: (pace) => ({
      ...paceItemOf(pace),
      expiresAtSeconds: Math.ceil(nowMs() / 1_000) + paceMemorySeconds,
    }),
  });

  return {
    find: async (phoneNumberId) => paceIn(await readVersioned(itemOf(phoneNumberId), { consistent: true })),

    change: async (phoneNumberId, seen, change) => {
      const sinceMs = nowMs();
      const changed = await changeVersioned(
        itemOf(phoneNumberId),
        (before) => {
          const { pace: state, result } = change(before, nowMs() - sinceMs);
          return { state, result };
        },
        { seen: seen && { state: seen, version: seen.version }, mostTries, pause, newWriter },
      );
      if (changed === undefined) throw new PaceContended();
      return { pace: paceIn(changed), result: changed.result };
    },
  };
}

function paceIn({ state, version }: Versioned<NumberPace>): NumberPace {
  return state.version === version ? state : { ...state, version };
}
