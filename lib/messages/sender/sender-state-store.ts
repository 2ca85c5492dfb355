import * as v from 'valibot';
import { runStateEntries } from '../../aws/leased-run.ts';
import { backoff, type Pause } from '../../aws/pause.ts';
import { runStateStore } from '../../aws/run-state-store.ts';
import type { Table } from '../../aws/table.ts';
import { senderKey } from '../dispatch/items.ts';
import type { SenderPorts, SenderState } from './sender-ports.ts';

const SenderStateSchema = v.object({
  ...runStateEntries,
  service: v.optional(v.record(v.string(), v.number())),
  turnsUntilMs: v.optional(v.number()),
  lost: v.optional(v.number()),
  turnOf: v.optional(v.string()),
});

/** Parses the item of a part's lease; an absent one is free. */
export function senderStateOf(item: unknown): SenderState {
  return v.parse(SenderStateSchema, item ?? {});
}

/** What a run tells the next one is of use for minutes. */
const memorySeconds = 86_400;
const conflictPause = backoff(10, 200);

/** Keeps the lease of each part of a number in an item of its own, in a partition of its own. */
export function senderStateStore(
  table: Pick<Table, 'client' | 'name' | 'nowMs'>,
  { pause = conflictPause, newWriter }: { readonly pause?: Pause; readonly newWriter?: () => string } = {},
): SenderPorts['statesOf'] {
  return (key) =>
    runStateStore(
      {
        ...{ table, key: senderKey(key) },
        stateOf: senderStateOf,
        itemOf: (state) => ({ ...state, expiresAtSeconds: Math.ceil(table.nowMs() / 1_000) + memorySeconds }),
      },
      { pause, newWriter },
    );
}
