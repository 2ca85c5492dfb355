import { provenByReceipt, type Settlements, type Slice } from '../../dispatch/slice.ts';
import type { Slices } from '../../dispatch/slice-store.ts';

export interface ProvenPorts {
  readonly slices: Pick<Slices, 'settle'>;
  readonly nowMs: () => number;
}

/**
 * Settles `unknown` to `sent` at the places that receipts prove, in one write (D39). Returns undefined when the slice
 * has changed. Throws when the store cannot be reached.
 */
export async function settleByReceipts(
  slice: Slice,
  proven: ReadonlySet<number>,
  { slices, nowMs }: ProvenPorts,
): Promise<Slice | undefined> {
  const unknown = [...proven].filter((place) => slice.outcomes[place]?.state === 'unknown');
  const settlements: Settlements = new Map(unknown.map((place) => [place, provenByReceipt]));
  return settlements.size === 0 ? slice : await slices.settle(slice, settlements, nowMs());
}
