import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { batchPut, type Item, transactWrite } from '../../aws/dynamodb-batch.ts';
import { updateOf } from '../../aws/item-write.ts';
import { backoff, type Pause } from '../../aws/pause.ts';
import type { Table } from '../../aws/table.ts';
import { addressesOfChunk, headOfChunk, type QueuedChunk } from '../dispatch/chunk.ts';
import { executor } from '../dispatch/item-store.ts';
import { dispatchWrites } from '../dispatch/item-writes.ts';
import { acceptedKey, dispatchExpiresAtSeconds, dispatchKey, scheduledKey } from '../dispatch/items.ts';
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

/**
 * *Begin* and *withdraw* exclude each other (dispatch/item-writes.ts). Each write is idempotent; aborted by `signal`,
 * it may take effect nevertheless.
 */
export interface AcceptedDispatches {
  /** Writes the addresses, then the dispatch, before it is queued: where the dispatch is found, its addresses are. */
  describe(dispatch: WholeDispatch, signal: AbortSignal): Promise<void>;
  /**
   * Returns the described dispatch, strongly consistent, or undefined when it was never described or TTL has removed
   * it.
   */
  find(dispatchId: string): Promise<StoredDispatch | undefined>;
  /**
   * Lists the dispatch for its client (D40), after the queue has confirmed: only TTL removes the entry of a withdrawn
   * dispatch.
   */
  list(dispatch: Pick<WholeDispatch, 'head' | 'repeats'>, signal: AbortSignal): Promise<void>;
  /**
   * Withdraws a dispatch unless it has begun. `withdrawn` means that nothing of it is sent, whatever the queue holds.
   * Is idempotent.
   */
  withdraw(dispatchId: string, signal?: AbortSignal): Promise<'withdrawn' | 'begun'>;
  /**
   * Begins a dispatch of the fan-out unless it was withdrawn. Registers a scheduled dispatch for lost-rounds.ts (D56),
   * a retry at its source (D57).
   */
  begin(dispatch: Pick<StoredDispatch, 'head' | 'repeats'>, signal?: AbortSignal): Promise<'begun' | 'withdrawn'>;
  /** Begins a straight dispatch, from the chunk of its first try: a later one lacks recipients. */
  beginStraight(chunk: QueuedChunk, signal?: AbortSignal): Promise<'begun' | 'withdrawn'>;
}

/** A withdrawal that meets a concurrent claim is retried at once: it has three seconds in all. */
const withdrawalPause = backoff(20, 200);

export function acceptedDispatchesStore(
  table: Pick<Table, 'client' | 'name' | 'nowMs'>,
  pause: Pause = withdrawalPause,
): AcceptedDispatches {
  const { client, nowMs } = table;
  const execute = executor(table);

  const put = async (Item: Item, abortSignal?: AbortSignal) => {
    await client.send(new PutCommand({ TableName: table.name, Item }), { abortSignal });
  };

  const isThere = async ({ pk, sk }: Item): Promise<boolean> => {
    const { Item: item } = await client.send(
      new GetCommand({ TableName: table.name, Key: { pk, sk }, ConsistentRead: true, ProjectionExpression: 'pk' }),
    );
    return item !== undefined;
  };

  return {
    describe: async (dispatch, abortSignal) => {
      await batchPut({ ...table, pause }, addressItems(dispatch), abortSignal);
      await put(acceptedItem(dispatch), abortSignal);
    },

    find: async (dispatchId) => {
      const { Item: item } = await client.send(
        new GetCommand({ TableName: table.name, Key: acceptedKey(dispatchId), ConsistentRead: true }),
      );
      return item === undefined ? undefined : dispatchOfAcceptedItem(item);
    },

    list: async ({ head, repeats = [] }, abortSignal) => {
      await put(pointerOfClient(head, head.total + repeats.length), abortSignal);
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

    begin: async ({ head, repeats }, abortSignal) => {
      if ((await execute(dispatchWrites.begin(head), abortSignal)) === 'withdrawn') return 'withdrawn';
      if (head.when !== undefined) {
        await put({ ...scheduledKey(head.dispatchId), expiresAtSeconds: dispatchExpiresAtSeconds(head) }, abortSignal);
      }
      // Acceptance has mostly listed it. If a fan-out dies here, the next delivery begins again.
      const pointer = pointerOfClient(head, head.total + repeats.length);
      if (!(await isThere(pointer))) await put(pointer, abortSignal);
      if (head.retryOf !== undefined)
        await execute(dispatchWrites.nameRetry(head.retryOf, head.dispatchId), abortSignal);
      return 'begun';
    },

    beginStraight: async (chunk, abortSignal) => {
      const head = headOfChunk(chunk);
      // The pointer is written first, so that a dispatch that has begun is listed. The list leaves out withdrawn
      // dispatches.
      await put(pointerOfClient(head, head.total), abortSignal);
      return await execute(dispatchWrites.begin(head, addressesOfChunk(chunk)), abortSignal);
    },
  };
}
