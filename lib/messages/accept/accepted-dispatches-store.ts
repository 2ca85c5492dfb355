import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { type Item, transactWrite } from '../../aws/dynamodb-batch.ts';
import { backoff, type Pause } from '../../aws/pause.ts';
import { otherMarket } from '../../pricing/country.ts';
import type { QueuedChunk } from '../chunk.ts';
import { addressesOfChunk, headOfChunk } from '../chunk.ts';
import type { DispatchHead } from '../dispatch.ts';
import {
  acceptedKey,
  dispatchExpiresAtSeconds,
  dispatchKey,
  longestDispatchMemorySeconds,
  mayBegin,
  mayWithdraw,
  scheduledKey,
} from '../items.ts';
import { sliceSize, withdrawn } from '../send/claims/slice.ts';
import { sliceItemOf, sliceKeyOf } from '../send/claims/slice-items.ts';
import {
  type AcceptedDispatchRecord,
  acceptedItem,
  addressItems,
  dispatchOfAcceptedItem,
  packedAddresses,
  pointerOfClient,
  type WholeDispatch,
} from './whole-dispatch.ts';

type ListableDispatch = Pick<AcceptedDispatchRecord, 'head' | 'repeats'>;

/**
 * *Begin* and *withdraw* exclude each other (items.ts, `mayBegin`). Each write is idempotent; aborted by `signal`, it
 * may take effect nevertheless.
 */
export interface AcceptedDispatches {
  /** Writes the addresses, then the dispatch, before it is queued: where the dispatch is found, its addresses are. */
  describe(dispatch: WholeDispatch, signal: AbortSignal): Promise<void>;
  /**
   * Returns the described dispatch, strongly consistent, or undefined when it was never described or TTL has removed
   * it.
   */
  find(dispatchId: string): Promise<AcceptedDispatchRecord | undefined>;
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
  begin(dispatch: ListableDispatch, signal?: AbortSignal): Promise<'begun' | 'withdrawn'>;
  /** Begins a straight dispatch, from the chunk of its first try: a later one lacks recipients. */
  beginStraight(chunk: QueuedChunk, signal?: AbortSignal): Promise<'begun' | 'withdrawn'>;
}

/** A withdrawal that meets a concurrent claim is retried at once: it has three seconds in all. */
const withdrawalPause = backoff(20, 200);

export function acceptedDispatchesStore(
  client: DynamoDBDocumentClient,
  table: string,
  nowMs: () => number,
  pause: Pause = withdrawalPause,
): AcceptedDispatches {
  const put = async (Item: Item, abortSignal?: AbortSignal) => {
    await client.send(new PutCommand({ TableName: table, Item }), { abortSignal });
  };

  const isThere = async ({ pk, sk }: Item): Promise<boolean> => {
    const { Item: item } = await client.send(
      new GetCommand({ TableName: table, Key: { pk, sk }, ConsistentRead: true, ProjectionExpression: 'pk' }),
    );
    return item !== undefined;
  };

  return {
    describe: async (dispatch, abortSignal) => {
      await Promise.all(addressItems(dispatch).map((item) => put(item, abortSignal)));
      await put(acceptedItem(dispatch), abortSignal);
    },

    find: async (dispatchId) => {
      const { Item: item } = await client.send(
        new GetCommand({ TableName: table, Key: acceptedKey(dispatchId), ConsistentRead: true }),
      );
      return item === undefined ? undefined : dispatchOfAcceptedItem(item);
    },

    list: async ({ head, repeats = [] }, abortSignal) => {
      await put(pointerOfClient(head, head.total + repeats.length), abortSignal);
    },

    withdraw: async (dispatchId, abortSignal) => {
      // Both items are kept for the longest life of any dispatch, because anything of this one may be found that long.
      const expiresAtSeconds = Math.ceil(nowMs() / 1_000) + longestDispatchMemorySeconds;
      // The size does not matter: outcomes of a withdrawn slice are never read.
      const slice = withdrawn({ key: { dispatchId, slice: 0 }, size: sliceSize, atMs: nowMs() });
      const dispatch = {
        TableName: table,
        Key: dispatchKey(dispatchId),
        ConditionExpression: mayWithdraw,
        UpdateExpression: 'SET withdrawnAtMs = :nowMs, expiresAtSeconds = :expiry',
        ExpressionAttributeValues: { ':nowMs': nowMs(), ':expiry': expiresAtSeconds },
      };
      const firstSlice = {
        TableName: table,
        Item: { ...sliceKeyOf(slice.key), ...sliceItemOf(slice), expiresAtSeconds },
        // The slice of an earlier withdrawal may be overwritten.
        ConditionExpression: 'attribute_not_exists(pk) OR #owner = :owner',
        ExpressionAttributeNames: { '#owner': 'owner' },
        ExpressionAttributeValues: { ':owner': slice.owner },
      };
      const access = { documentClient: client, tableName: table, pause };
      const refused = await transactWrite(access, [{ Update: dispatch }, { Put: firstSlice }], abortSignal);
      return refused === undefined ? 'withdrawn' : 'begun';
    },

    begin: async ({ head, repeats }, abortSignal) => {
      if (!(await setHead(head, undefined, abortSignal))) return 'withdrawn';
      if (head.when !== undefined) {
        await put({ ...scheduledKey(head.dispatchId), expiresAtSeconds: dispatchExpiresAtSeconds(head) }, abortSignal);
      }
      // Acceptance has mostly listed it. If a fan-out dies here, the next delivery begins again.
      const pointer = pointerOfClient(head, head.total + repeats.length);
      if (!(await isThere(pointer))) await put(pointer, abortSignal);
      if (head.retryOf !== undefined) await nameRetry(head.retryOf, head.dispatchId, abortSignal);
      return 'begun';
    },

    beginStraight: async (chunk, abortSignal) => {
      const head = headOfChunk(chunk);
      // The pointer is written first, so that a dispatch that has begun is listed. The list leaves out withdrawn
      // dispatches.
      await put(pointerOfClient(head, head.total), abortSignal);
      return (await setHead(head, addressesOfChunk(chunk), abortSignal)) ? 'begun' : 'withdrawn';
    },
  };

  /** Does nothing when the retried dispatch is forgotten. */
  async function nameRetry(retryOf: string, dispatchId: string, abortSignal?: AbortSignal): Promise<void> {
    const update = new UpdateCommand({
      TableName: table,
      Key: dispatchKey(retryOf),
      UpdateExpression: 'ADD retriedBy :dispatchId',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':dispatchId': new Set([dispatchId]) },
    });
    await conditionalWrite(client.send(update, { abortSignal }));
  }

  /** Returns false when the dispatch was withdrawn. An existing head stays. */
  async function setHead(
    head: DispatchHead,
    addresses: readonly (string | undefined)[] | undefined,
    abortSignal?: AbortSignal,
  ): Promise<boolean> {
    const to =
      addresses === undefined ? {} : { ':to': packedAddresses(addresses.map((to) => to ?? { market: otherMarket })) };
    const { written } = await conditionalWrite(
      client.send(
        new UpdateCommand({
          TableName: table,
          Key: dispatchKey(head.dispatchId),
          UpdateExpression: `SET head = if_not_exists(head, :head), expiresAtSeconds = :expiry${addresses === undefined ? '' : ', #to = if_not_exists(#to, :to)'}`,
          ConditionExpression: mayBegin,
          ...(addresses === undefined ? {} : { ExpressionAttributeNames: { '#to': 'to' } }),
          // The head is text, as in `acceptedItem`.
          ExpressionAttributeValues: {
            ':head': JSON.stringify(head),
            ':expiry': dispatchExpiresAtSeconds(head),
            ...to,
          },
        }),
        { abortSignal },
      ),
    );
    return written;
  }
}
