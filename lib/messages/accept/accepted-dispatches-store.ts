import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { batchPut, type Item, transactWrite } from '../../aws/dynamodb-batch.ts';
import { updateOf } from '../../aws/item-write.ts';
import { backoff, type Pause } from '../../aws/pause.ts';
import type { Table } from '../../aws/table.ts';
import { newEntry } from '../dispatch/backlog.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import { executor } from '../dispatch/item-store.ts';
import { dispatchWrites } from '../dispatch/item-writes.ts';
import { acceptedKey, dispatchKey } from '../dispatch/items.ts';
import { sliceSize, withdrawn } from '../dispatch/slice.ts';
import { sliceItemOf, sliceKeyOf } from '../dispatch/slice-items.ts';
import {
  acceptedItem,
  addressItems,
  dispatchOfAcceptedItem,
  pointerOfClient,
  type StoredDispatch,
  type WholeDispatch,
} from '../dispatch/whole-dispatch.ts';
import { parameterItems } from './parameter-store.ts';

/**
 * *Begin* and *withdraw* exclude each other (dispatch/item-writes.ts). Each write is idempotent; aborted by `signal`,
 * it may take effect nevertheless.
 */
export interface AcceptedDispatches {
  /**
   * Writes all that a dispatch needs before it begins: parameters, addresses, record, and its entry of the backlog.
   * Throws `RecipientTooLarge`. Some of it may be stored when it rejects.
   */
  store(dispatch: WholeDispatch, signal: AbortSignal): Promise<void>;
  /** Begins a stored dispatch unless it was withdrawn. */
  begin(head: DispatchHead, signal?: AbortSignal): Promise<'begun' | 'withdrawn'>;
  /**
   * Returns the stored dispatch, strongly consistent, or undefined when it was never stored or TTL has removed it.
   */
  find(dispatchId: string): Promise<StoredDispatch | undefined>;
  /** Lists a dispatch that has begun for its client (D40), and names a retry at its source (D57). */
  list(dispatch: Pick<WholeDispatch, 'head' | 'repeats'>, signal?: AbortSignal): Promise<void>;
  /**
   * Withdraws a dispatch unless it has begun. `withdrawn` means that nothing of it is sent, whatever the queue holds.
   * Is idempotent.
   */
  withdraw(dispatchId: string, signal?: AbortSignal): Promise<'withdrawn' | 'begun'>;
  /** Lists and begins a small request, with its addresses: nothing else stores them. */
  beginStraight(dispatch: StraightDispatch, signal?: AbortSignal): Promise<'begun' | 'withdrawn'>;
}

export interface StraightDispatch {
  readonly head: DispatchHead;
  /** An erased one has no address (D60). */
  readonly recipients: readonly { readonly to?: string | undefined }[];
}

/** A withdrawal that meets a concurrent claim is retried at once: it has three seconds in all. */
const withdrawalPause = backoff(20, 200);

export function acceptedDispatchesStore(table: Table, pause: Pause = withdrawalPause): AcceptedDispatches {
  const { client, nowMs } = table;
  const execute = executor(table);

  const put = async (Item: Item, abortSignal?: AbortSignal) => {
    await client.send(new PutCommand({ TableName: table.name, Item }), { abortSignal });
  };

  return {
    store: async (dispatch, abortSignal) => {
      await batchPut(table, itemsBeforeBegin(dispatch), abortSignal);
    },

    begin: async (head, abortSignal) => await execute(dispatchWrites.begin(head), abortSignal),

    find: async (dispatchId) => {
      const { Item: item } = await client.send(
        new GetCommand({ TableName: table.name, Key: acceptedKey(dispatchId), ConsistentRead: true }),
      );
      return item === undefined ? undefined : dispatchOfAcceptedItem(item);
    },

    list: async ({ head, repeats = [] }, abortSignal) => {
      await put(pointerOfClient(head, head.total + repeats.length), abortSignal);
      const { retryOf, dispatchId } = head;
      if (retryOf !== undefined) await execute(dispatchWrites.nameRetry(retryOf, dispatchId), abortSignal);
    },

    withdraw: async (dispatchId, abortSignal) => {
      const write = dispatchWrites.withdraw(dispatchId, nowMs());
      const dispatch = { TableName: table.name, Key: dispatchKey(dispatchId), ...updateOf(write) };
      // The size does not matter: outcomes of a withdrawn slice are never read.
      const slice = withdrawn({ key: { dispatchId, slice: 0 }, size: sliceSize, atMs: nowMs() });
      const expiresAtSeconds = write.set?.expiresAtSeconds;
      const firstSlice = {
        TableName: table.name,
        Item: { ...sliceKeyOf(slice.key), ...sliceItemOf(slice), expiresAtSeconds },
        // The slice of an earlier withdrawal may be overwritten.
        ConditionExpression: 'attribute_not_exists(pk) OR #owner = :owner',
        ExpressionAttributeNames: { '#owner': 'owner' },
        ExpressionAttributeValues: { ':owner': slice.owner },
      };
      const refused = await transactWrite(
        { ...table, pause },
        [{ Update: dispatch }, { Put: firstSlice }],
        abortSignal,
      );
      return refused === undefined ? 'withdrawn' : 'begun';
    },

    beginStraight: async ({ head, recipients }, abortSignal) => {
      // The pointer is written first, so that a dispatch that has begun is listed. The list leaves out withdrawn
      // dispatches.
      await put(pointerOfClient(head, head.total), abortSignal);
      const addresses = recipients.map(({ to }) => to);
      return await execute(dispatchWrites.begin(head, addresses), abortSignal);
    },
  };
}

/** The entry is last, so that a refused dispatch mostly leaves none. */
function* itemsBeforeBegin(dispatch: WholeDispatch): Generator<Item> {
  yield* parameterItems(dispatch);
  yield* addressItems(dispatch);
  yield acceptedItem(dispatch);
  yield { ...newEntry(dispatch.head) };
}
