import { type Outcome, type SliceClaim, sliceSize } from '../../lib/messages/dispatch/claims/slice.ts';
import { sliceStore } from '../../lib/messages/dispatch/claims/slice-store.ts';
import type { JobHead } from '../../lib/messages/job.ts';
import { platformIdOf } from './reported-jobs.ts';
import type { LoadedTable } from './scale-loading.ts';

/** The claim of a try of a slice, as a worker writes it. */
export function claimOf(
  { jobId, total }: Pick<JobHead, 'jobId' | 'total'>,
  slice: number,
  { atMs, try: tried = 0 }: { readonly atMs: number; readonly try?: number },
): SliceClaim {
  const size = Math.min(sliceSize, total - slice * sliceSize);
  // As long as those of a worker: the ids of its run and of the delivery.
  return {
    key: { jobId, slice },
    try: tried,
    owner: `${'r'.repeat(36)} ${'d'.repeat(30)}${slice}-${tried}`,
    atMs,
    size,
  };
}

/** The slices of a job that was handed over, through the store of the workers. */
export async function loadSlices({ documentClient, tableName }: LoadedTable, head: JobHead): Promise<void> {
  const { jobId, total, acceptedAtMs } = head;
  const store = sliceStore({ client: documentClient, table: tableName, nowMs: () => acceptedAtMs });
  const numbers = Array.from({ length: Math.ceil(total / sliceSize) }, (_, slice) => slice).values();
  const work = async () => {
    for (const number of numbers) {
      const { slice } = await store.claim(claimOf(head, number, { atMs: acceptedAtMs + number }));
      const outcomes = slice.outcomes.map((_, place): [number, Outcome] => {
        const platformMessageId = platformIdOf(jobId, number * sliceSize + place);
        return [place, { state: 'sent', platformMessageId }];
      });
      await store.end(slice, new Map(outcomes));
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
}
