import { provenByReceipt, type Settlements, type Slice, type SliceKey } from './slice.ts';
import type { Slices } from './slices.ts';

export interface ProvenPorts {
  /** Whether the job has been marked since (`SlicePorts.markDoubt`), read strongly. */
  readonly isDoubtful: (jobId: string) => Promise<boolean>;
  /** Read strongly. */
  readonly find: (key: SliceKey) => Promise<Slice | undefined>;
  readonly slices: Pick<Slices, 'settle'>;
  /** Queues the events that these places of the slice are resolved. */
  readonly tellResolved: (slice: Slice, places: readonly number[]) => Promise<void>;
  readonly nowMs: () => number;
}

/**
 * What receipts that were just appended change of a slice (D39): `unknown` becomes `sent`, and that is told. A claim is left to
 * its claimant, who looks for receipts before it tells. Throws when the store cannot be reached, or others were ahead: the
 * receipts are to be worked off again then.
 */
export async function settleProven(key: SliceKey, proven: ReadonlySet<number>, ports: ProvenPorts): Promise<void> {
  if (!(await ports.isDoubtful(key.jobId))) return;
  const slice = await ports.find(key);
  if (slice === undefined) return;
  const unknown = [...proven].filter((place) => slice.outcomes[place]?.state === 'unknown');
  const settlements: Settlements = new Map(unknown.map((place) => [place, provenByReceipt]));
  const settled = unknown.length === 0 ? slice : await ports.slices.settle(slice, settlements, ports.nowMs());
  if (settled === undefined) throw new Error('the slice was changed by others');
  const resolved = [...proven].filter((place) => settled.outcomes[place]?.resolvedAtMs !== undefined);
  if (resolved.length > 0) await ports.tellResolved(settled, resolved);
}
