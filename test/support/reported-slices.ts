import { tableOf } from '../../lib/aws/table.ts';
import type { DispatchHead } from '../../lib/messages/dispatch/head.ts';
import { type Outcome, type SliceClaim, sliceSize } from '../../lib/messages/dispatch/slice.ts';
import { sliceStore } from '../../lib/messages/dispatch/slice-store.ts';
import { platformIdOf } from './reported-dispatches.ts';
import type { LoadedTable } from './scale-loading.ts';

/** Makes a worker's claim of a slice. */
export function claimOf(
  { dispatchId, total }: Pick<DispatchHead, 'dispatchId' | 'total'>,
  slice: number,
  { atMs, try: tried = 0 }: { readonly atMs: number; readonly try?: number },
): SliceClaim {
  const size = Math.min(sliceSize, total - slice * sliceSize);
  // The ids of the run and of the delivery are as long as a worker's.
  return {
    key: { dispatchId, slice },
    try: tried,
    owner: `${'r'.repeat(36)} ${'d'.repeat(30)}${slice}-${tried}`,
    atMs,
    size,
  };
}

/** Stores the slices of a dispatch that was handed over, by the workers' store. */
export async function loadSlices({ documentClient, tableName }: LoadedTable, head: DispatchHead): Promise<void> {
  const { dispatchId, total, acceptedAtMs } = head;
  const store = sliceStore(tableOf(documentClient, tableName, { nowMs: () => acceptedAtMs }));
  const numbers = Array.from({ length: Math.ceil(total / sliceSize) }, (_, slice) => slice).values();
  const work = async () => {
    for (const number of numbers) {
      const { slice } = await store.claim(claimOf(head, number, { atMs: acceptedAtMs + number }));
      const outcomes = slice.outcomes.map((_, place): [number, Outcome] => {
        const platformMessageId = platformIdOf(dispatchId, number * sliceSize + place);
        return [place, { state: 'sent', platformMessageId }];
      });
      await store.end(slice, new Map(outcomes));
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
}
