import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { queryPartition } from '../../aws/dynamodb-batch.ts';
import type { Pause } from '../../aws/pause.ts';
import type { Claim, DispatchKey } from '../dispatch/claim.ts';
import { claimKey, claimsPerPartition, jobsOfDayPartition, jobsOfDaySortKey, stillClaimed } from '../items.ts';
import type { ReportedOutcome } from './outcome.ts';
import { type DescribedJob, placesOf } from './report.ts';
import { reportStore } from './report-store.ts';

/** A place of the request with what became of it. */
export interface PlacedOutcome extends ReportedOutcome {
  /** Counted as the report counts (D40). */
  readonly position: number;
  readonly duplicateOf?: number;
}

/** Read side of what became of messages, for operators. Every read is strongly consistent. */
export interface Outcomes {
  /** Undefined for a job that was never accepted, was withdrawn, or is older than 30 days. */
  findJob(jobId: string): Promise<DescribedJob | undefined>;
  /** Jobs of one DID accepted from `fromMs` until before `toMs`, oldest first; those that the fan-out has begun. */
  listJobs(did: string, period: { readonly fromMs: number; readonly toMs: number }): Promise<DescribedJob[]>;
  /** One outcome for every place of the request, in order. */
  ofJob(job: DescribedJob): Promise<PlacedOutcome[]>;
  ofMessage(key: DispatchKey): Promise<ReportedOutcome>;
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
const PointerSchema = v.object({ jobId: v.string() });

export function outcomesStore({ client, table, nowMs, pause }: StoreOptions): Outcomes {
  const messages = { documentClient: client, tableName: table, pause };
  const report = reportStore({ client, table, nowMs, pause, consistent: true });
  return {
    findJob: (jobId) => report.findDescribed(jobId),

    listJobs: async (did, { fromMs, toMs }) => {
      const jobs: DescribedJob[] = [];
      for (let dayStart = Math.floor(fromMs / dayMs) * dayMs; dayStart < toMs; dayStart += dayMs) {
        const pointers = await queryPartition(messages, jobsOfDayPartition(did, dayStart), {
          from: jobsOfDaySortKey(Math.max(fromMs, dayStart)),
          // Job ids follow the time, so the bare end time sorts before the first job that is too late.
          to: jobsOfDaySortKey(Math.min(toMs, dayStart + dayMs)),
        });
        for (const pointer of pointers) {
          const job = await report.findDescribed(v.parse(PointerSchema, pointer).jobId);
          if (job !== undefined) jobs.push(job);
        }
      }
      return jobs;
    },

    ofJob: async (job) => {
      const { jobId } = job.head;
      const places = placesOf(job);
      const partitions = new Set(places.map(({ index }) => Math.floor(index / claimsPerPartition)));
      const outcomeAt = await report.judge(job, await report.readMessages(jobId, [...partitions]));
      return places.map(({ index, ...place }) => {
        const to = job.recipients.get(index);
        return { ...outcomeAt(index), ...(to === undefined ? {} : { to }), ...place };
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

  async function readMessage({ jobId, index }: DispatchKey): Promise<{
    readonly claim: Claim | undefined;
    readonly outcome: ReportedOutcome;
  }> {
    const job = (await report.findDescribed(jobId)) ?? { head: { jobId } };
    const { claims, proofs } = await report.readMessages(jobId, [Math.floor(index / claimsPerPartition)]);
    const claim = claims.get(index);
    const alone = new Map(claim === undefined ? [] : [[index, claim] as const]);
    return { claim, outcome: (await report.judge(job, { claims: alone, proofs }))(index) };
  }
}
