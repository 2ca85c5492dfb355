import type { MessageKey } from '../dispatch/head.ts';
import { placeInSlice, resolvedByOperator, type Slice } from '../dispatch/slice.ts';
import type { SettledSlices } from '../dispatch/slice-store.ts';
import type { ReportedOutcome } from './outcome.ts';

export interface ResolvePorts {
  /** Returns the slice, and the outcome by all that is stored. Reads strongly. */
  readonly read: (
    key: MessageKey,
  ) => Promise<{ readonly slice: Slice | undefined; readonly outcome: Pick<ReportedOutcome, 'state'> }>;
  readonly slices: SettledSlices;
  readonly markUnknown: (dispatchId: string) => Promise<void>;
  readonly nowMs: () => number;
}

/**
 * Replaces `unknown` by an operator's finding; sends nothing. Returns false when it is no longer unknown or the slice
 * has changed.
 */
export async function resolveUnknown(
  key: MessageKey,
  state: 'sent' | 'failed',
  { read, slices, markUnknown, nowMs }: ResolvePorts,
): Promise<boolean> {
  const { slice, outcome } = await read(key);
  if (slice === undefined || outcome.state !== 'unknown') return false;
  const place = placeInSlice(key.index);
  let recorded: Slice | undefined = slice;
  // The claimant is dead, and no delivery has recorded that.
  if (slice.outcomes[place]?.state !== 'unknown') {
    await markUnknown(key.dispatchId);
    recorded = await slices.endForTheDead(slice, 'operator');
  }
  if (recorded === undefined) return false;
  const settlements = new Map([[place, { state, code: resolvedByOperator }]]);
  return (await slices.settle(recorded, settlements, nowMs())) !== undefined;
}
