import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { type Item, transactWrite } from '../../aws/dynamodb-batch.ts';
import { backoff, type Pause } from '../../aws/pause.ts';
import { present } from '../../keys/present.ts';
import type { QueuedChunk } from '../chunk.ts';
import { addressesOfChunk, headOfChunk } from '../chunk.ts';
import { sliceSize, withdrawn } from '../dispatch/claims/slice.ts';
import { sliceItemOf, sliceKeyOf } from '../dispatch/claims/slice-items.ts';
import { acceptedKey, jobExpiresAtSeconds, jobKey, longestMemorySeconds, mayBegin, mayWithdraw } from '../items.ts';
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

/** A job as far as its pointers tell of it. */
type ListedJob = Pick<AcceptedJobRecord, 'head' | 'repeats'>;

/**
 * What is written of a job by its acceptance, and what decides whether it counts. *Begin* and *withdraw* exclude each other in
 * the job's item (items.ts, `mayBegin`). A worker that has claimed slice 0 of a straight job has begun it as well: a withdrawal
 * takes that slice in the same transaction. Every write may be repeated by its author, and rejects when `signal` ends the wait,
 * though it may take effect nevertheless.
 */
export interface AcceptedJobs {
  /** Writes down who the recipients are, then the job: where the job is found, they are. Before the queue is asked for it. */
  describe(job: WholeJob, signal: AbortSignal): Promise<void>;
  /** The job as it was described; strongly consistent. Undefined when it was not, or was 30 days ago. */
  find(jobId: string): Promise<AcceptedJobRecord | undefined>;
  /** Shows the job in the list of its client (D40): once the queue has confirmed it, for else it would be there for ever. */
  list(job: Pick<WholeJob, 'head' | 'repeats'>, signal: AbortSignal): Promise<void>;
  /**
   * Takes a job back, unless it has begun: `withdrawn` means that nothing of it will be sent or told, whatever is in the
   * queue; `begun` that all of it will be. A job that was taken back before is `withdrawn`.
   */
  withdraw(jobId: string, signal?: AbortSignal): Promise<'withdrawn' | 'begun'>;
  /** Begins a job of the fan-out, so that it is sent and found, unless it was taken back. */
  begin(job: ListedJob): Promise<'begun' | 'withdrawn'>;
  /**
   * The same of a straight chunk, by its acceptance or by the worker that has claimed it. The worker begins with the chunk of
   * the first try: a later one does not carry all recipients.
   */
  beginStraight(chunk: QueuedChunk, signal?: AbortSignal): Promise<'begun' | 'withdrawn'>;
}

/** A withdrawal that meets a claim is tried again at once: it has three seconds in all. */
const withdrawalPause = backoff(20, 200);

export function acceptedJobsStore(
  client: DynamoDBDocumentClient,
  table: string,
  nowMs: () => number,
  pause: Pause = withdrawalPause,
): AcceptedJobs {
  const put = async (Item: Item, abortSignal?: AbortSignal) => {
    await client.send(new PutCommand({ TableName: table, Item }), present({ abortSignal }));
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
      // As long as the job may be kept: without it, that would be one that was never begun.
      const expiresAtSeconds = Math.ceil(nowMs() / 1_000) + longestMemorySeconds;
      // How many recipients it has does not matter: what became of them is never read.
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
        // That of a withdrawal before this one is as good as none.
        ConditionExpression: 'attribute_not_exists(pk) OR #owner = :owner',
        ExpressionAttributeNames: { '#owner': 'owner' },
        ExpressionAttributeValues: { ':owner': slice.owner },
      };
      const access = { documentClient: client, tableName: table, pause };
      const refused = await transactWrite(access, [{ Update: job }, { Put: firstSlice }], abortSignal);
      return refused === undefined ? 'withdrawn' : 'begun';
    },

    begin: async ({ head, repeats }) => {
      if (!(await setHead(head, undefined))) return 'withdrawn';
      // Mostly acceptance has listed it. A fan-out that dies before is followed by another delivery, which begins once more.
      const pointer = pointerOfClient(head, head.total + repeats.length);
      if (!(await isThere(pointer))) await put(pointer);
      return 'begun';
    },

    beginStraight: async (chunk, abortSignal) => {
      const head = headOfChunk(chunk);
      // First, so that what has begun is in the list; the list leaves out what was taken back.
      await put(pointerOfClient(head, head.total), abortSignal);
      return (await setHead(head, addressesOfChunk(chunk), abortSignal)) ? 'begun' : 'withdrawn';
    },
  };

  /** False when the job was taken back. What is there already stays. */
  async function setHead(
    head: JobHead,
    addresses: readonly (string | undefined)[] | undefined,
    abortSignal?: AbortSignal,
  ): Promise<boolean> {
    const to = addresses === undefined ? {} : { ':to': packedAddresses(addresses) };
    const { written } = await conditionalWrite(
      client.send(
        new UpdateCommand({
          TableName: table,
          Key: jobKey(head.jobId),
          UpdateExpression: `SET head = if_not_exists(head, :head), expiresAtSeconds = :expiry${addresses === undefined ? '' : ', #to = if_not_exists(#to, :to)'}`,
          ConditionExpression: mayBegin,
          ...(addresses === undefined ? {} : { ExpressionAttributeNames: { '#to': 'to' } }),
          // As text, as in `acceptedItem`.
          ExpressionAttributeValues: { ':head': JSON.stringify(head), ':expiry': jobExpiresAtSeconds(head), ...to },
        }),
        present({ abortSignal }),
      ),
    );
    return written;
  }
}
