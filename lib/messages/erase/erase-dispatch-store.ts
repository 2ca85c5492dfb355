import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { type Item, queryPages } from '../../aws/dynamodb-batch.ts';
import type { ItemKey } from '../../aws/item-key.ts';
import { parameterPageAt } from '../accept/parameter-store.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import { type DispatchItem, dispatchItemIn, headIn } from '../dispatch/item.ts';
import {
  acceptedKey,
  dispatchExpiresAtSeconds,
  dispatchKey,
  receiptGroupOf,
  receiptPartition,
  recipientsKey,
} from '../dispatch/items.ts';
import { openPlaces, placeInSlice, sliceOf } from '../dispatch/slice.ts';
import { sliceKeyOf, sliceOfItem } from '../dispatch/slice-items.ts';
import {
  addressesFrom,
  addressesPerItem,
  dispatchOfAcceptedItem,
  type StoredAddresses,
} from '../dispatch/whole-dispatch.ts';
import { receiptsOf } from '../receipts/receipt-items.ts';
import { canonicalAddress } from '../request/recipient-address.ts';
import {
  addressesWithout,
  type Change,
  parametersWithout,
  receiptsWithout,
  sharedWithout,
  sliceWithout,
  straightWithout,
} from './anonymized-items.ts';
import type { DispatchPlace, ErasedInDispatch, EraseInDispatch } from './erase-ports.ts';
import { isOf, type PersonIds } from './person.ts';
import type { Rewriter } from './rewrite-store.ts';

interface StoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly rewriter: Rewriter;
  readonly nowMs: () => number;
}

/** Erases recipients of one dispatch. Returns undefined for another client's dispatch. */
export function dispatchEraser({ client, table, rewriter, nowMs }: StoreOptions): EraseInDispatch {
  const find = async (key: ItemKey): Promise<Item | undefined> =>
    (await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))).Item;

  return async ({ dispatchId, indexes: found, ids, clientId }, learned) => {
    const [dispatchItem, accepted] = await Promise.all([find(dispatchKey(dispatchId)), find(acceptedKey(dispatchId))]);
    const dispatch = dispatchItemIn(dispatchItem ?? {});
    const head = headIn(dispatch) ?? (accepted && dispatchOfAcceptedItem(accepted).head);
    if (clientId !== undefined && head?.clientId !== clientId) return undefined;

    const unfinished = dispatch.erasing ? [...(dispatch.erased ?? [])] : [];
    const indexes = new Set([...found, ...unfinished]);
    // The mark comes first (dispatch/item.ts), with `erasing`, by which a later scan finds an unfinished
    // dispatch. So no recipient without parameters is called. `erasing` goes last.
    const erased =
      (await marked(dispatchId, { indexes, dispatch, head })) ?? new Set([...(dispatch.erased ?? []), ...indexes]);
    const changed: Partial<Record<DispatchPlace, number>> = {};
    const rewrite = async (place: DispatchPlace, item: Item, rule: (item: Item) => Change | undefined) => {
      if (await rewriter.rewrite(table, item, rule)) changed[place] = (changed[place] ?? 0) + 1;
    };

    const states = await eraseSlices({ dispatchId, indexes }, rewrite);
    for (const page of await pagesWith(dispatchId, indexes)) {
      await rewrite('parameters', page, (item) => parametersWithout(item, indexes));
    }
    const receipts = await receiptItemsOf(dispatchId, indexes);
    const addresses = await addressItems(dispatchId, indexes);
    const received = receipts.flatMap(receiptsOf).map(({ index, userId, waId }) => [index, [userId, waId]] as const);
    const named = addresses.flatMap(addressesIn).map(([index, to]) => [index, [to]] as const);
    await learned(
      othersOf(
        ids,
        [...received, ...named].filter(([index]) => indexes.has(index)),
      ),
    );
    for (const item of receipts) await rewrite('receipts', item, (seen) => receiptsWithout(seen, indexes));
    const shared = { ids, whole: head !== undefined && erased.size >= head.total };
    for (const item of [await find(dispatchKey(dispatchId)), accepted]) {
      if (item !== undefined) await rewrite('shared', item, (seen) => sharedWithout(seen, shared));
    }
    for (const item of addresses) {
      await rewrite('addresses', item, (seen) =>
        'to' in seen ? straightWithout(seen, indexes) : addressesWithout(seen, indexes),
      );
    }
    if (states.underWay.length === 0) await finished(dispatchId, erased.size);
    return { indexes, ...states, changed };
  };

  /** Returns all erased indexes of the dispatch from now on, or undefined if nothing is written. */
  async function marked(
    dispatchId: string,
    {
      indexes,
      dispatch: { erasing, erased },
      head,
    }: {
      readonly indexes: ReadonlySet<number>;
      readonly dispatch: DispatchItem;
      readonly head: DispatchHead | undefined;
    },
  ): Promise<ReadonlySet<number> | undefined> {
    if (!rewriter.writes || (erasing && [...indexes].every((index) => erased?.has(index)))) return undefined;
    const { Attributes } = await client.send(
      new UpdateCommand({
        TableName: table,
        Key: dispatchKey(dispatchId),
        // Before it begins there is no item yet, and TTL must find one.
        UpdateExpression:
          'SET erasing = :true, expiresAtSeconds = if_not_exists(expiresAtSeconds, :expiry) ADD erased :indexes',
        ExpressionAttributeValues: {
          ':true': true,
          ':indexes': new Set(indexes),
          ':expiry': dispatchExpiresAtSeconds({
            keptUntilMs: head?.keptUntilMs,
            acceptedAtMs: nowMs(),
          }),
        },
        ReturnValues: 'ALL_NEW',
      }),
    );
    return dispatchItemIn(Attributes).erased;
  }

  /** Keeps `erasing` if more recipients were marked meanwhile. */
  async function finished(dispatchId: string, erasedCount: number): Promise<void> {
    if (!rewriter.writes) return;
    await conditionalWrite(
      client.send(
        new UpdateCommand({
          TableName: table,
          Key: dispatchKey(dispatchId),
          UpdateExpression: 'REMOVE erasing',
          ConditionExpression: 'size(erased) = :count',
          ExpressionAttributeValues: { ':count': erasedCount },
        }),
      ),
    );
  }

  async function eraseSlices(
    { dispatchId, indexes }: { readonly dispatchId: string; readonly indexes: ReadonlySet<number> },
    rewrite: (place: DispatchPlace, item: Item, rule: (item: Item) => Change | undefined) => Promise<void>,
  ): Promise<Pick<ErasedInDispatch, 'pending' | 'underWay'>> {
    const [pending, underWay]: [number[], number[]] = [[], []];
    for (const [number, own] of Map.groupBy(indexes, (index) => sliceOf({ dispatchId, index }).slice)) {
      const key = { dispatchId, slice: number };
      const item = await find(sliceKeyOf(key));
      if (item === undefined) {
        pending.push(...own);
        continue;
      }
      const slice = sliceOfItem(key, item);
      const open = own.filter((index) => openPlaces(slice).includes(placeInSlice(index)));
      (slice.state === 'claimed' ? underWay : pending).push(...open);
      await rewrite('outcomes', item, (seen) => sliceWithout(key, seen, indexes));
    }
    return { pending, underWay };
  }

  async function pagesWith(dispatchId: string, indexes: ReadonlySet<number>): Promise<Item[]> {
    const pages = new Map<string, Item>();
    for (const index of [...indexes].sort((one, other) => one - other)) {
      const page = await parameterPageAt({ client, name: table }, { dispatchId, index });
      if (page !== undefined) pages.set(`${page['pk']} ${page['sk']}`, page);
    }
    return [...pages.values()];
  }

  async function receiptItemsOf(dispatchId: string, indexes: ReadonlySet<number>): Promise<Item[]> {
    const items: Item[] = [];
    for (const group of new Set([...indexes].map(receiptGroupOf))) {
      const read = { sort: undefined, consistent: true };
      const pages = queryPages({ client, name: table }, receiptPartition(dispatchId, group), read);
      for await (const page of pages) {
        items.push(...page.filter((item) => receiptsOf(item).some(({ index }) => indexes.has(index))));
      }
    }
    return items;
  }

  async function addressItems(dispatchId: string, indexes: ReadonlySet<number>): Promise<Item[]> {
    const firsts = new Set([...indexes].map((index) => Math.floor(index / addressesPerItem) * addressesPerItem));
    const keys = [dispatchKey(dispatchId), ...[...firsts].map((first) => recipientsKey(dispatchId, first))];
    const items = await Promise.all(keys.map(find));
    return items.filter((item) => item !== undefined && ('to' in item || 'recipients' in item)) as Item[];
  }
}

const PackedSchema = v.object({
  firstIndex: v.optional(v.number(), 0),
  recipients: v.optional(v.instance(Uint8Array)),
  to: v.optional(v.instance(Uint8Array)),
});

function addressesIn(item: Item): StoredAddresses['addresses'] {
  const { firstIndex, recipients, to = recipients } = v.parse(PackedSchema, item);
  return to === undefined ? [] : addressesFrom(to, firstIndex).addresses;
}

/**
 * Returns other ids of the person in its receipts and addresses. A recipient without a known id is another person, of
 * an unfinished erasure.
 */
function othersOf(
  ids: PersonIds,
  named: readonly (readonly [index: number, names: readonly (string | undefined)[]])[],
): string[] {
  const byIndex = Map.groupBy(named, ([index]) => index);
  const ofEach = [...byIndex.values()].map((some) =>
    some.flatMap(([, names]) => names.filter((name) => name !== undefined)),
  );
  const own = ofEach.filter((names) => names.some((name) => isOf(ids, name)));
  return own
    .flat()
    .map(canonicalAddress)
    .filter((name) => !isOf(ids, name));
}
