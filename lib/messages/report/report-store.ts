import { type Item, queryPages } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import { reservationIn } from '../budget/budgets-store.ts';
import { dispatchItemIn, headIn, stateOf } from '../dispatch/item.ts';
import { executor } from '../dispatch/item-store.ts';
import { type CallsOf, dispatchWrites } from '../dispatch/item-writes.ts';
import {
  acceptedKey,
  dispatchKey,
  dispatchPartition,
  receiptGroupOf,
  receiptPartition,
  recipientsPrefix,
  reservedKey,
} from '../dispatch/items.ts';
import { recipientsPerPartition } from '../dispatch/slice-items.ts';
import { slicesOfPartition } from '../dispatch/slice-store.ts';
import { addressesFrom, addressesOfItem, dispatchOfAcceptedItem } from '../dispatch/whole-dispatch.ts';
import { foldReceipts, type Proven } from '../receipts/fold-receipts.ts';
import { receiptsOf } from '../receipts/receipt-items.ts';
import { type DescribedDispatch, isForgotten } from './described-dispatch.ts';
import type { WrittenMessages } from './outcome.ts';

/** Each read is one round trip if every partition fits one query page, as for a dispatch of 10,000. */
export interface Report {
  /**
   * Returns undefined for a dispatch that was never accepted, was withdrawn, or is forgotten. Reads strongly, for
   * reports of stopped dispatches.
   */
  findDescribed(dispatchId: string): Promise<DescribedDispatch | undefined>;
  /**
   * A reader that ends open recipients with their dispatch must read slices strongly, after the dispatch
   * (dispatch/item-writes.ts, `reckon`).
   */
  readMessages(
    dispatchId: string,
    partitions: readonly number[],
    read?: { readonly consistent: boolean },
  ): Promise<WrittenMessages>;
  readonly reckon: CallsOf<typeof dispatchWrites>['reckon'];
}

export function reportStore(
  table: Pick<Table, 'client' | 'name' | 'nowMs'>,
  { consistent = false }: { readonly consistent?: boolean } = {},
): Report {
  const { nowMs } = table;
  return {
    findDescribed: async (dispatchId) => {
      const found = describedIn(await itemsOf(dispatchPartition(dispatchId), true));
      return found === undefined || isForgotten(found.head, nowMs()) ? undefined : found;
    },

    readMessages: async (dispatchId, partitions, read = { consistent }) => {
      const askedAtMs = nowMs();
      const groups = [...new Set(partitions.map((partition) => receiptGroupOf(partition * recipientsPerPartition)))];
      const [slices, receipts] = await Promise.all([
        Promise.all(partitions.map((partition) => slicesOfPartition(table, { dispatchId, partition }, read))),
        Promise.all(groups.map((group) => itemsOf(receiptPartition(dispatchId, group), consistent))),
      ]);
      const byNumber = new Map(slices.flat().map((slice) => [slice.key.slice, slice]));
      return { slices: byNumber, proofs: proofsIn(receipts.flat()), askedAtMs };
    },

    reckon: (dispatchId, underWay) => executor(table)(dispatchWrites.reckon(dispatchId, underWay)),
  };

  async function itemsOf(partition: string, isConsistent: boolean): Promise<Item[]> {
    const items: Item[] = [];
    const read = { sort: undefined, consistent: isConsistent };
    for await (const page of queryPages(table, partition, read)) {
      for (const item of page) items.push(item);
    }
    return items;
  }
}

/** Returns the dispatch described by the items of its partition, or undefined without one. */
export function describedIn(items: readonly Item[]): DescribedDispatch | undefined {
  const itemAt = ({ sk }: { readonly sk: string }) => items.find((item) => item['sk'] === sk);
  const dispatch = dispatchItemIn(itemAt(dispatchKey('')) ?? {});
  const head = headIn(dispatch);
  if (head === undefined) return undefined;
  const item = itemAt(acceptedKey(''));
  const accepted = item === undefined ? undefined : dispatchOfAcceptedItem(item);
  const described = items.filter(({ sk }) => String(sk).startsWith(recipientsPrefix)).map(addressesOfItem);
  const known = dispatch.to === undefined ? described : [addressesFrom(dispatch.to)];
  const recipients = new Map(known.flatMap(({ addresses }) => addresses));
  const erasedMarkets = new Map(known.flatMap(({ erased }) => erased));
  const reserved = reservationIn(itemAt(reservedKey('')));
  const { repeats = [], lots, positions } = accepted ?? {};
  return { head, repeats, recipients, erasedMarkets, ...stateOf(dispatch), lots, positions, reserved };
}

export function proofsIn(items: readonly Item[]): Map<number, Proven> {
  const byMessage = Map.groupBy(items.flatMap(receiptsOf), ({ index }) => index);
  const proofs = new Map<number, Proven>();
  for (const [index, receipts] of byMessage) {
    const proven = foldReceipts(receipts);
    if (proven !== undefined) proofs.set(index, proven);
  }
  return proofs;
}
