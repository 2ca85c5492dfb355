import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { batchGet, queryPartition } from '../../aws/dynamodb-batch.ts';
import type { Pause } from '../../aws/pause.ts';
import { type BatchRecord, type Claim, type DispatchKey, invocationOf } from '../dispatch/claim.ts';
import { batchRecordOf, claimOf } from '../dispatch/claim-items.ts';
import {
  batchKey,
  claimKey,
  claimPartition,
  claimsPerPartition,
  invocationOfBatch,
  jobKey,
  jobsOfDayPartition,
  jobsOfDaySortKey,
  stillClaimed,
} from '../items.ts';
import { type JobHead, JobHeadSchema } from '../job.ts';
import { needsBatchRecord, type Outcome, outcomeOf } from './outcome.ts';

/** Read side of what became of messages, for operators. Every read is strongly consistent. */
export interface Outcomes {
  /** Undefined for a job that was never accepted, has not been fanned out yet, or is older than 30 days. */
  findJob(jobId: string): Promise<JobHead | undefined>;
  /** Jobs of one DID accepted from `fromMs` until before `toMs`, oldest first. */
  listJobs(did: string, period: { readonly fromMs: number; readonly toMs: number }): Promise<JobHead[]>;
  /** One outcome for every recipient of the job, by index. */
  ofJob(head: JobHead): Promise<Outcome[]>;
  ofMessage(key: DispatchKey): Promise<Outcome>;
  /**
   * Replaces `unknown` by what an operator found out. Sends nothing, and gives way: returns false when the outcome is
   * not unknown (any more), so a decision never overwrites knowledge.
   */
  resolve(key: DispatchKey, state: 'sent' | 'failed'): Promise<boolean>;
}

interface StoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly nowMs: () => number;
  readonly pause: Pause;
}

const dayMs = 86_400_000;
const partitionsAtOnce = 8;

/** A job that was withdrawn before it began has no head. */
const JobItemSchema = v.object({ head: v.optional(v.pipe(v.string(), v.parseJson(), JobHeadSchema)) });
const PointerSchema = v.object({ jobId: v.string() });

export function outcomesStore({ client, table, nowMs, pause }: StoreOptions): Outcomes {
  const messages = { documentClient: client, tableName: table, pause };
  return {
    findJob,

    listJobs: async (did, { fromMs, toMs }) => {
      const jobs: JobHead[] = [];
      for (let dayStart = Math.floor(fromMs / dayMs) * dayMs; dayStart < toMs; dayStart += dayMs) {
        const pointers = await queryPartition(messages, jobsOfDayPartition(did, dayStart), {
          from: jobsOfDaySortKey(Math.max(fromMs, dayStart)),
          // Job ids follow the time, so the bare end time sorts before the first job that is too late.
          to: jobsOfDaySortKey(Math.min(toMs, dayStart + dayMs)),
        });
        for (const pointer of pointers) {
          const job = await findJob(v.parse(PointerSchema, pointer).jobId);
          if (job !== undefined) jobs.push(job);
        }
      }
      return jobs;
    },

    ofJob: async ({ jobId, total }) => {
      const partitions = Array.from({ length: Math.ceil(total / claimsPerPartition) }, (_, partition) => partition);
      const claims = new Map<number, Claim>();
      for (let at = 0; at < partitions.length; at += partitionsAtOnce) {
        const pages = await Promise.all(
          partitions
            .slice(at, at + partitionsAtOnce)
            .map((partition) => queryPartition(messages, claimPartition(jobId, partition))),
        );
        for (const item of pages.flat()) {
          const claim = claimOf(jobId, item);
          claims.set(claim.key.index, claim);
        }
      }
      const batches = await findBatchRecords([...claims.values()]);
      return Array.from({ length: total }, (_, index) => {
        const claim = claims.get(index);
        return outcomeOf({ jobId, index }, { claim, batch: batchOf(claim, batches) }, nowMs());
      });
    },

    ofMessage: async (key) => (await readMessage(key)).outcome,

    resolve: async (key, state) => {
      const { claim, outcome } = await readMessage(key);
      if (claim === undefined || outcome.state !== 'unknown') return false;
      const { written } = await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: claimKey(key),
            UpdateExpression: 'SET #state = :state, code = :code, resolvedAtMs = :now',
            ConditionExpression: stillClaimed.asSeen,
            ExpressionAttributeNames: stillClaimed.names,
            ExpressionAttributeValues: {
              ':state': state,
              ':code': 'resolved_by_operator',
              ':now': nowMs(),
              ':at': claim.at,
              ':seen': claim.state,
            },
          }),
        ),
      );
      return written;
    },
  };

  async function findJob(jobId: string): Promise<JobHead | undefined> {
    const { Item } = await client.send(new GetCommand({ TableName: table, Key: jobKey(jobId), ConsistentRead: true }));
    return Item === undefined ? undefined : v.parse(JobItemSchema, Item).head;
  }

  async function readMessage(
    key: DispatchKey,
  ): Promise<{ readonly claim: Claim | undefined; readonly outcome: Outcome }> {
    const { Item } = await client.send(new GetCommand({ TableName: table, Key: claimKey(key), ConsistentRead: true }));
    const claim = Item === undefined ? undefined : claimOf(key.jobId, Item);
    const batches = await findBatchRecords(claim === undefined ? [] : [claim]);
    return { claim, outcome: outcomeOf(key, { claim, batch: batchOf(claim, batches) }, nowMs()) };
  }

  /** Batch records by invocation. */
  async function findBatchRecords(claims: readonly Claim[]): Promise<Map<string, BatchRecord>> {
    const invocations = [...new Set(claims.filter(needsBatchRecord).map(({ at }) => invocationOf(at)))];
    const items = await batchGet(messages, invocations.map(batchKey), { consistent: true });
    return new Map(items.map((item) => [invocationOfBatch(item['pk']), batchRecordOf(item)]));
  }
}

function batchOf(claim: Claim | undefined, batches: ReadonlyMap<string, BatchRecord>): BatchRecord | undefined {
  return claim === undefined ? undefined : batches.get(invocationOf(claim.at));
}
