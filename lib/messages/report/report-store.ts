import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { type Item, queryPages } from '../../aws/dynamodb-batch.ts';
import { addressesFrom, addressesOfItem, dispatchOfAcceptedItem } from '../accept/whole-dispatch.ts';
import { reservationIn } from '../budget/budgets-store.ts';
import { DispatchHeadSchema } from '../dispatch.ts';
import { DispatchItemStateSchema, type UnderWay } from '../dispatch-item-state.ts';
import {
  acceptedKey,
  dispatchKey,
  dispatchPartition,
  mayReckon,
  receiptGroupOf,
  receiptPartition,
  recipientsPrefix,
  reservedKey,
} from '../items.ts';
import { foldReceipts, type Proven } from '../receipts/fold-receipts.ts';
import { receiptsOf } from '../receipts/receipt-items.ts';
import type { Slice } from '../send/claims/slice.ts';
import { recipientsPerPartition, sliceOfItem, sliceOfSortKey, slicePartition } from '../send/claims/slice-items.ts';
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
   * A reader that ends open recipients with their dispatch must read slices strongly, after the dispatch (items.ts,
   * `mayReckon`).
   */
  readMessages(
    dispatchId: string,
    partitions: readonly number[],
    read?: { readonly consistent: boolean },
  ): Promise<WrittenMessages>;
  /** Stores the tries under way of a stopped dispatch, once; returns the stored ones. */
  reckon(dispatchId: string, underWay: UnderWay): Promise<UnderWay>;
}

interface StoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly nowMs: () => number;
  /** Operators read strongly, at twice the price. */
  readonly consistent?: boolean;
}

/** A dispatch that was withdrawn before it began has no head. */
const DispatchItemSchema = v.object({
  head: v.optional(v.pipe(v.string(), v.parseJson(), DispatchHeadSchema)),
  withdrawnAtMs: v.optional(v.number()),
  /** A straight dispatch's addresses have no items of their own. */
  to: v.optional(v.instance(Uint8Array)),
  ...DispatchItemStateSchema.entries,
});

export function reportStore({ client, table, nowMs, consistent = false }: StoreOptions): Report {
  return {
    findDescribed: async (dispatchId) => {
      const found = describedIn(await itemsOf(dispatchPartition(dispatchId), true));
      return found === undefined || isForgotten(found.head, nowMs()) ? undefined : found;
    },

    readMessages: async (dispatchId, partitions, read = { consistent }) => {
      const askedAtMs = nowMs();
      const groups = [...new Set(partitions.map((partition) => receiptGroupOf(partition * recipientsPerPartition)))];
      const [slices, receipts] = await Promise.all([
        Promise.all(partitions.map((partition) => slicesOf(dispatchId, partition, read.consistent))),
        Promise.all(groups.map((group) => itemsOf(receiptPartition(dispatchId, group), consistent))),
      ]);
      const byNumber = new Map(slices.flat().map((slice) => [slice.key.slice, slice]));
      return { slices: byNumber, proofs: proofsIn(receipts.flat()), askedAtMs };
    },

    reckon: async (dispatchId, underWay) => {
      const write = await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: dispatchKey(dispatchId),
            UpdateExpression: 'SET underWay = :underWay',
            ConditionExpression: mayReckon,
            ExpressionAttributeNames: { '#stop': 'stop' },
            ExpressionAttributeValues: { ':underWay': underWay },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        ),
      );
      const existing = write.written ? undefined : write.existing;
      return v.parse(DispatchItemStateSchema, existing ?? {}).underWay ?? underWay;
    },
  };

  async function slicesOf(dispatchId: string, partition: number, isConsistent: boolean): Promise<Slice[]> {
    const items = await itemsOf(slicePartition(dispatchId, partition), isConsistent);
    return items.map((item) => sliceOfItem({ dispatchId, slice: sliceOfSortKey(item['sk']) }, item));
  }

  async function itemsOf(partition: string, isConsistent: boolean): Promise<Item[]> {
    const items: Item[] = [];
    const read = { sort: undefined, consistent: isConsistent };
    for await (const page of queryPages({ documentClient: client, tableName: table }, partition, read)) {
      for (const item of page) items.push(item);
    }
    return items;
  }
}

/** Returns the dispatch described by the items of its partition, or undefined without one. */
export function describedIn(items: readonly Item[]): DescribedDispatch | undefined {
  const itemAt = ({ sk }: { readonly sk: string }) => items.find((item) => item['sk'] === sk);
  const dispatch = v.parse(v.optional(DispatchItemSchema), itemAt(dispatchKey('')));
  if (dispatch?.withdrawnAtMs !== undefined) return undefined;
  const item = itemAt(acceptedKey(''));
  const accepted = item === undefined ? undefined : dispatchOfAcceptedItem(item);
  const head = accepted?.head ?? dispatch?.head;
  if (head === undefined) return undefined;
  const described = items.filter(({ sk }) => String(sk).startsWith(recipientsPrefix)).map(addressesOfItem);
  const known = dispatch?.to === undefined ? described : [addressesFrom(dispatch.to)];
  const recipients = new Map(known.flatMap(({ addresses }) => addresses));
  const erasedMarkets = new Map(known.flatMap(({ erased }) => erased));
  const reserved = reservationIn(itemAt(reservedKey('')));
  const { stop, parked, pausedFromMs, underWay, erased, retriedBy } = dispatch ?? {};
  const { repeats = [], lots, positions } = accepted ?? {};
  const state = { stop, parked, pausedFromMs, underWay, erased, retriedBy };
  return { head, repeats, recipients, erasedMarkets, ...state, lots, positions, reserved };
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
