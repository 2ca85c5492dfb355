import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { batchGet, type Item, queryPartition } from '../../aws/dynamodb-batch.ts';
import type { Pause } from '../../aws/pause.ts';
import { omitUndefined } from '../../keys/omit-undefined.ts';
import { type Slice, sliceOf } from '../dispatch/claims/slice.ts';
import { recipientsPerPartition } from '../dispatch/claims/slice-items.ts';
import { sliceStore } from '../dispatch/claims/slice-store.ts';
import { dispatchesPartition, jobKey, jobOfPartition, jobSortKey } from '../items.ts';
import { dispatchIdOf } from '../job.ts';
import { JobStateSchema } from '../job-state.ts';
import { unknownOutcomesStore } from '../receipts/unknown-outcomes-store.ts';
import { addressAt, type DescribedJob, placesOf } from './described-job.ts';
import { outcomesOf, type ReportedOutcome } from './outcome.ts';
import { partitionsOfJob } from './report-cursor.ts';
import { reportStore } from './report-store.ts';
import { type MessageKey, resolveUnknown } from './resolve-unknown.ts';

export interface PlacedOutcome extends ReportedOutcome {
  /** The position is that in the request, as in the report (D40). */
  readonly position: number;
  readonly duplicateOf?: number;
}

export interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

interface JobsOf {
  readonly did: string;
  readonly clientIds: readonly number[];
}

/** Operators read outcomes strongly consistently. */
export interface Outcomes {
  /** Returns undefined for a job that was never accepted, was withdrawn, or is forgotten. */
  findJob(jobId: string): Promise<DescribedJob | undefined>;
  /** Lists jobs of one DID and these clients accepted in a period, oldest first: those whose id is wanted, or all. */
  listJobs(from: JobsOf & { readonly isWanted?: (jobId: string) => boolean }, period: Period): Promise<DescribedJob[]>;
  /**
   * Lists the jobs among these that wait for a hold, without reading the recipients of the others. `unreadable` gets the ids
   * of jobs whose items cannot be read.
   */
  listParked(from: JobsOf, period: Period, unreadable: (jobId: string) => void): Promise<DescribedJob[]>;
  /** Returns one outcome per place of the request, in order. */
  ofJob(job: DescribedJob): Promise<PlacedOutcome[]>;
  ofMessage(key: MessageKey): Promise<ReportedOutcome>;
  /** Works as `resolveUnknown`. */
  resolve(key: MessageKey, state: 'sent' | 'failed'): Promise<boolean>;
}

interface StoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly nowMs: () => number;
  readonly pause: Pause;
}

/** More requests side by side would time out while they wait for a socket, and their items fill the memory. */
const statesAtOnce = 1_000;

const PointerSchema = v.object({ sk: v.string(), jobId: v.string(), did: v.string() });

export function outcomesStore({ client, table, nowMs, pause }: StoreOptions): Outcomes {
  const messages = { documentClient: client, tableName: table, pause };
  const report = reportStore({ client, table, nowMs, consistent: true });
  return {
    findJob: (jobId) => report.findDescribed(jobId),

    listJobs: async ({ isWanted = () => true, ...from }, period) =>
      await described((await jobIdsOf(from, period)).filter(isWanted)),

    listParked: async (from, period, unreadable) => {
      const jobIds = await jobIdsOf(from, period);
      const jobs: DescribedJob[] = [];
      for (let at = 0; at < jobIds.length; at += statesAtOnce) {
        for (const jobId of await waitingAmong(jobIds.slice(at, at + statesAtOnce))) {
          try {
            jobs.push(...(await described([jobId])));
          } catch (error) {
            if (!v.isValiError(error)) throw error;
            unreadable(jobId);
          }
        }
      }
      return jobs;
    },

    ofJob: async (job) => {
      const { jobId, total } = job.head;
      const outcomeAt = outcomesOf(job, await report.readMessages(jobId, partitionsOfJob(total)));
      if (outcomeAt === undefined) return [];
      return placesOf(job).map((place) => {
        const { index, spelling: _, ...shown } = place;
        return { ...outcomeAt(index), ...omitUndefined({ to: addressAt(job, place) }), ...shown };
      });
    },

    ofMessage: async (key) => (await readMessage(key)).outcome,

    resolve: (key, state) =>
      resolveUnknown(key, state, {
        read: readMessage,
        slices: sliceStore({ client, table, nowMs }),
        markUnknown: async (jobId) => {
          const job = await report.findDescribed(jobId);
          if (job !== undefined) await unknownOutcomesStore(client, table).mark(job.head);
        },
        nowMs,
      }),
  };

  /** Returns the ids in the order of acceptance. */
  async function jobIdsOf({ did, clientIds }: JobsOf, { fromMs, toMs }: Period): Promise<string[]> {
    const partitions = clientIds.map(dispatchesPartition);
    const jobIds = new Map<string, string>();
    for (const partition of fromMs < toMs ? partitions : []) {
      // Job ids sort after the bare end time, so the end is exclusive.
      const period = { from: jobSortKey(Math.max(fromMs, 0)), to: jobSortKey(toMs) };
      for (const item of await queryPartition(messages, partition, period)) {
        const pointer = v.parse(PointerSchema, item);
        if (pointer.did === did) jobIds.set(pointer.sk, pointer.jobId);
      }
    }
    return [...jobIds].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, jobId]) => jobId);
  }

  /** Returns parked jobs in this order, with those whose state cannot be read: they may be parked. */
  async function waitingAmong(jobIds: readonly string[]): Promise<string[]> {
    const items = await batchGet(messages, jobIds.map(jobKey), { consistent: true });
    const waiting = new Set(items.filter(mayBeParked).map(({ pk }) => jobOfPartition(pk)));
    return jobIds.filter((jobId) => waiting.has(jobId));
  }

  async function described(jobIds: readonly string[]): Promise<DescribedJob[]> {
    const jobs: DescribedJob[] = [];
    for (const jobId of jobIds) {
      const job = await report.findDescribed(jobId);
      if (job !== undefined) jobs.push(job);
    }
    return jobs;
  }

  async function readMessage({ jobId, index }: MessageKey): Promise<{
    readonly slice: Slice | undefined;
    readonly outcome: ReportedOutcome;
  }> {
    const job = await report.findDescribed(jobId);
    const written = await report.readMessages(jobId, [Math.floor(index / recipientsPerPartition)]);
    const outcomeAt = job === undefined ? undefined : outcomesOf(job, written);
    if (job === undefined || outcomeAt === undefined) {
      return { slice: undefined, outcome: { dispatchId: dispatchIdOf({ jobId, index }), state: 'pending' } };
    }
    const slice = written.slices.get(sliceOf({ jobId, index }).slice);
    return { slice, outcome: { ...outcomeAt(index), ...toOf(job, index) } };
  }
}

function mayBeParked(item: Item): boolean {
  const state = v.safeParse(JobStateSchema, item);
  return !state.success || (state.output.stop === undefined && state.output.parked !== undefined);
}

function toOf({ recipients }: DescribedJob, index: number) {
  return omitUndefined({ to: recipients.get(index) });
}
