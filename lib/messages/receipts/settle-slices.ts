import { forEachConcurrently } from '../../aws/concurrently.ts';
import { count } from '../../observe/metrics.ts';
import { messageIdOf } from '../dispatch/head.ts';
import { placeInSlice, provenByReceipt, type Slice, type SliceKey, sliceOf } from '../dispatch/slice.ts';
import { settleByReceipts } from '../send/claims/settle-by-receipts.ts';
import type { Receipt } from './receipt.ts';
import type { ReceiptPorts } from './receipt-ports.ts';

// Receipts change a slice only if its dispatch is in doubt and an outcome is `unknown`. items.ts, `unknownMarkKey`, has
// the order of writes and reads.

// A claimed try and `again` outcomes are left alone: the claimant, or the next try, reads receipts itself
// (run-slice.ts).

/** This many settlements are under way at once, one write each. */
const writesAtOnce = 20;

/** A slice changes twice per try. After more changes the next delivery looks again. */
const maxRounds = 5;

interface ProvenSlice {
  readonly key: SliceKey;
  readonly indexes: ReadonlySet<number>;
}

type SettlePorts = Pick<ReceiptPorts, 'slices' | 'nowMs' | 'log'>;

/**
 * Settles `unknown` messages that these receipts prove (D39). Returns settlement times by dispatch id, also of earlier
 * runs. Throws when slices keep changing.
 */
export async function settleSlices(
  receipts: readonly Receipt[],
  ports: SettlePorts,
): Promise<ReadonlyMap<string, number>> {
  const resolved = new Map<string, number>();
  let open = provenSlicesOf(receipts);
  for (let round = 1; open.size > 0; round += 1) {
    if (round > maxRounds) throw new Error(`${open.size} slices keep changing`);
    const slices = await ports.slices.findAll([...open.values()].map(({ key }) => key));
    const found = new Map(slices.map((slice) => [nameOf(slice.key), slice]));
    const changed = new Map<string, ProvenSlice>();
    await forEachConcurrently(open, writesAtOnce, async ([name, proven]) => {
      const slice = found.get(name);
      if (slice === undefined) return;
      const settled = await settle(slice, proven, ports);
      if (settled === undefined) changed.set(name, proven);
      else for (const [messageId, atMs] of resolvedOf(settled, proven)) resolved.set(messageId, atMs);
    });
    open = changed;
  }
  return resolved;
}

function provenSlicesOf(receipts: readonly Receipt[]): ReadonlyMap<string, ProvenSlice> {
  const slices = new Map<string, { readonly key: SliceKey; readonly indexes: Set<number> }>();
  for (const receipt of receipts) {
    const key = sliceOf(receipt);
    const slice = slices.get(nameOf(key)) ?? { key, indexes: new Set() };
    slices.set(nameOf(key), slice);
    slice.indexes.add(receipt.index);
  }
  return slices;
}

function nameOf({ dispatchId, slice }: SliceKey): string {
  return `${dispatchId} ${slice}`;
}

/** Returns undefined when the slice has changed. */
async function settle(
  seen: Slice,
  { key: { dispatchId }, indexes }: ProvenSlice,
  ports: SettlePorts,
): Promise<Slice | undefined> {
  const settled = await settleByReceipts(seen, new Set([...indexes].map(placeInSlice)), ports);
  if (settled === undefined) return undefined;
  const wasUnknown = (index: number) => seen.outcomes[placeInSlice(index)]?.state === 'unknown';
  for (const index of [...indexes].filter(wasUnknown)) {
    count('MessagesResolved');
    ports.log('receipts.resolved', { messageId: messageIdOf({ dispatchId, index }) });
  }
  return settled;
}

function resolvedOf({ key: { dispatchId }, outcomes }: Slice, { indexes }: ProvenSlice): [string, number][] {
  return [...indexes].flatMap((index): [string, number][] => {
    const outcome = outcomes[placeInSlice(index)];
    if (outcome?.state !== 'sent' || outcome.code !== provenByReceipt.code) return [];
    return outcome.resolvedAtMs === undefined ? [] : [[messageIdOf({ dispatchId, index }), outcome.resolvedAtMs]];
  });
}
