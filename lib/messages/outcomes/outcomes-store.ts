import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { queryPartition } from '../../aws/dynamodb-batch.ts';
import type { Pause } from '../../aws/pause.ts';
import type { Claim, DispatchKey } from '../dispatch/claim.ts';
import {
  claimKey,
  claimsPerPartition,
  dispatchesPartition,
  jobsOfDayPartition,
  jobsOfDaySortKey,
  stillClaimed,
} from '../items.ts';
import { type DescribedJob, placesOf } from './described-job.ts';
import type { ReportedOutcome } from './outcome.ts';
import { reportStore } from './report-store.ts';
import { type ResolvePorts, resolveUnknown } from './resolve-unknown.ts';

/** A place of the request with what became of it. */
export interface PlacedOutcome extends ReportedOutcome {
  /** Counted as the report counts (D40). */
  readonly position: number;
  readonly duplicateOf?: number;
}

/** From `fromMs` until before `toMs`. */
export interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Read side of what became of messages, for operators. Every read is strongly consistent. */
export interface Outcomes {
  /** Undefined for a job that was never accepted, was withdrawn, or is older than 30 days. */
  findJob(jobId: string): Promise<DescribedJob | undefined>;
  /** Jobs of one DID accepted in a period, oldest first. Of the clients asked for alone: those that went straight, and those that the fan-out has not begun. */
  listJobs(
    from: { readonly did: string; readonly clientIds: readonly number[] },
    period: Period,
  ): Promise<DescribedJob[]>;
  /** One outcome for every place of the request, in order. */
  ofJob(job: DescribedJob): Promise<PlacedOutcome[]>;
  ofMessage(key: DispatchKey): Promise<ReportedOutcome>;
  /** As `resolveUnknown`. */
  resolve(key: DispatchKey, state: 'sent' | 'failed'): Promise<boolean>;
}

interface StoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly nowMs: () => number;
  readonly pause: Pause;
}

const oneDayMs = 86_400_000;
const PointerSchema = v.object({ sk: v.string(), jobId: v.string() });

function startOfDay(atMs: number): number {
  return Math.floor(atMs / oneDayMs) * oneDayMs;
}

export function outcomesStore({ client, table, nowMs, pause }: StoreOptions): Outcomes {
  const messages = { documentClient: client, tableName: table, pause };
  const report = reportStore({ client, table, nowMs, pause, consistent: true });
  return {
    findJob: (jobId) => report.findDescribed(jobId),

    listJobs: async ({ did, clientIds }, { fromMs, toMs }) => {
      // What went straight, or was accepted a moment ago, stands in its client's list alone; a job that was fanned out in both.
      const partitions = clientIds.map((clientId) => dispatchesPartition(clientId, did));
      for (let dayMs = startOfDay(fromMs); dayMs < toMs; dayMs += oneDayMs)
        partitions.push(jobsOfDayPartition(did, dayMs));
      const jobIds = new Map<string, string>();
      for (const partition of fromMs < toMs ? partitions : []) {
        // Job ids follow the time, so the bare end time sorts before the first job that is too late.
        const period = { from: jobsOfDaySortKey(Math.max(fromMs, 0)), to: jobsOfDaySortKey(toMs) };
        for (const item of await queryPartition(messages, partition, period)) {
          const { sk, jobId } = v.parse(PointerSchema, item);
          jobIds.set(sk, jobId);
        }
      }
      const jobs: DescribedJob[] = [];
      for (const [, jobId] of [...jobIds].sort(([one], [other]) => (one < other ? -1 : 1))) {
        const job = await report.findDescribed(jobId);
        if (job !== undefined) jobs.push(job);
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

    resolve: (key, state) =>
      resolveUnknown(key, state, { read: readMessage, settleByHand: handSettling(client, table), nowMs }),
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

/** The write of an operator's word. */
export function handSettling(client: DynamoDBDocumentClient, table: string): ResolvePorts['settleByHand'] {
  return async ({ key, at, state: seen }, { state, code, resolvedAtMs }) => {
    const { written } = await conditionalWrite(
      client.send(
        new UpdateCommand({
          TableName: table,
          Key: claimKey(key),
          UpdateExpression: 'SET #state = :state, code = :code, resolvedAtMs = :now',
          ConditionExpression: stillClaimed.asSeen,
          ExpressionAttributeNames: stillClaimed.names,
          ExpressionAttributeValues: { ':state': state, ':code': code, ':now': resolvedAtMs, ':at': at, ':seen': seen },
        }),
      ),
    );
    return written;
  };
}
