import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { type Item, transactWrite } from '../../aws/dynamodb-batch.ts';
import { backoff, type Pause } from '../../aws/pause.ts';
import { omitUndefined } from '../../keys/omit-undefined.ts';
import { otherMarket } from '../../pricing/country.ts';
import type { QueuedChunk } from '../chunk.ts';
import { addressesOfChunk, headOfChunk } from '../chunk.ts';
import { sliceSize, withdrawn } from '../dispatch/claims/slice.ts';
import { sliceItemOf, sliceKeyOf } from '../dispatch/claims/slice-items.ts';
import {
  acceptedKey,
  jobExpiresAtSeconds,
  jobKey,
  longestJobMemorySeconds,
  mayBegin,
  mayWithdraw,
  scheduledKey,
} from '../items.ts';
import type { JobHead } from '../job.ts';
import {
  type AcceptedJobRecord,
  acceptedItem,
  addressItems,
  jobOfAcceptedItem,
  packedAddresses,
  pointerOfClient,
  type WholeJob,
} from './whole-job.ts';

type ListedJob = Pick<AcceptedJobRecord, 'head' | 'repeats'>;

/**
 * *Begin* and *withdraw* exclude each other (items.ts, `mayBegin`). Each write is idempotent; aborted by `signal`, it
 * may take effect nevertheless.
 */
export interface AcceptedJobs {
  /** Writes the addresses, then the job, before it is queued: where the job is found, its addresses are. */
  describe(job: WholeJob, signal: AbortSignal): Promise<void>;
  /** Returns the described job, strongly consistent, or undefined when it was never described or TTL has removed it. */
  find(jobId: string): Promise<AcceptedJobRecord | undefined>;
  /**
   * Lists the job for its client (D40), after the queue has confirmed: only TTL removes the entry of a withdrawn job.
   */
  list(job: Pick<WholeJob, 'head' | 'repeats'>, signal: AbortSignal): Promise<void>;
  /**
   * Withdraws a job unless it has begun. `withdrawn` means that nothing of it is sent, whatever the queue holds. Is
   * idempotent.
   */
  withdraw(jobId: string, signal?: AbortSignal): Promise<'withdrawn' | 'begun'>;
  /**
   * Begins a job of the fan-out unless it was withdrawn. Registers a scheduled job for lost-rounds.ts (D56), a retry at
   * its source (D57).
   */
  begin(job: ListedJob, signal?: AbortSignal): Promise<'begun' | 'withdrawn'>;
  /** Begins a straight job, from the chunk of its first try: a later one lacks recipients. */
  beginStraight(chunk: QueuedChunk, signal?: AbortSignal): Promise<'begun' | 'withdrawn'>;
}

/** A withdrawal that meets a concurrent claim is retried at once: it has three seconds in all. */
const withdrawalPause = backoff(20, 200);

export function acceptedJobsStore(
  client: DynamoDBDocumentClient,
  table: string,
  nowMs: () => number,
  pause: Pause = withdrawalPause,
): AcceptedJobs {
  const put = async (Item: Item, abortSignal?: AbortSignal) => {
    await client.send(new PutCommand({ TableName: table, Item }), omitUndefined({ abortSignal }));
  };

  const isThere = async ({ pk, sk }: Item): Promise<boolean> => {
    const { Item: item } = await client.send(
      new GetCommand({ TableName: table, Key: { pk, sk }, ConsistentRead: true, ProjectionExpression: 'pk' }),
    );
    return item !== undefined;
  };

  return {
    describe: async (job, abortSignal) => {
      await Promise.all(addressItems(job).map((item) => put(item, abortSignal)));
      await put(acceptedItem(job), abortSignal);
    },

    find: async (jobId) => {
      const { Item: item } = await client.send(
        new GetCommand({ TableName: table, Key: acceptedKey(jobId), ConsistentRead: true }),
      );
      return item === undefined ? undefined : jobOfAcceptedItem(item);
    },

    list: async ({ head, repeats = [] }, abortSignal) => {
      await put(pointerOfClient(head, head.total + repeats.length), abortSignal);
    },

    withdraw: async (jobId, abortSignal) => {
      // Both items are kept for the longest life of any job, because anything of this one may be found that long.
      const expiresAtSeconds = Math.ceil(nowMs() / 1_000) + longestJobMemorySeconds;
      // The size does not matter: outcomes of a withdrawn slice are never read.
      const slice = withdrawn({ key: { jobId, slice: 0 }, size: sliceSize, atMs: nowMs() });
      const job = {
        TableName: table,
        Key: jobKey(jobId),
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
      const refused = await transactWrite(access, [{ Update: job }, { Put: firstSlice }], abortSignal);
      return refused === undefined ? 'withdrawn' : 'begun';
    },

    begin: async ({ head, repeats }, abortSignal) => {
      if (!(await setHead(head, undefined, abortSignal))) return 'withdrawn';
      if (head.when !== undefined) {
        await put({ ...scheduledKey(head.jobId), expiresAtSeconds: jobExpiresAtSeconds(head) }, abortSignal);
      }
      // Acceptance has mostly listed it. If a fan-out dies here, the next delivery begins again.
      const pointer = pointerOfClient(head, head.total + repeats.length);
      if (!(await isThere(pointer))) await put(pointer, abortSignal);
      if (head.retryOf !== undefined) await nameRetry(head.retryOf, head.jobId, abortSignal);
      return 'begun';
    },

    beginStraight: async (chunk, abortSignal) => {
      const head = headOfChunk(chunk);
      // The pointer is written first, so that a job that has begun is listed. The list leaves out withdrawn jobs.
      await put(pointerOfClient(head, head.total), abortSignal);
      return (await setHead(head, addressesOfChunk(chunk), abortSignal)) ? 'begun' : 'withdrawn';
    },
  };

  /** Does nothing when the retried job is forgotten. */
  async function nameRetry(retryOf: string, jobId: string, abortSignal?: AbortSignal): Promise<void> {
    const update = new UpdateCommand({
      TableName: table,
      Key: jobKey(retryOf),
      UpdateExpression: 'ADD retriedBy :jobId',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':jobId': new Set([jobId]) },
    });
    await conditionalWrite(client.send(update, omitUndefined({ abortSignal })));
  }

  /** Returns false when the job was withdrawn. An existing head stays. */
  async function setHead(
    head: JobHead,
    addresses: readonly (string | undefined)[] | undefined,
    abortSignal?: AbortSignal,
  ): Promise<boolean> {
    const to =
      addresses === undefined ? {} : { ':to': packedAddresses(addresses.map((to) => to ?? { market: otherMarket })) };
    const { written } = await conditionalWrite(
      client.send(
        new UpdateCommand({
          TableName: table,
          Key: jobKey(head.jobId),
          UpdateExpression: `SET head = if_not_exists(head, :head), expiresAtSeconds = :expiry${addresses === undefined ? '' : ', #to = if_not_exists(#to, :to)'}`,
          ConditionExpression: mayBegin,
          ...(addresses === undefined ? {} : { ExpressionAttributeNames: { '#to': 'to' } }),
          // The head is text, as in `acceptedItem`.
          ExpressionAttributeValues: { ':head': JSON.stringify(head), ':expiry': jobExpiresAtSeconds(head), ...to },
        }),
        omitUndefined({ abortSignal }),
      ),
    );
    return written;
  }
}
