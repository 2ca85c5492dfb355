import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { batchGet, type Item, queryPages } from '../../aws/dynamodb-batch.ts';
import { type Pause, storePause } from '../../aws/pause.ts';
import { present } from '../../keys/present.ts';
import { acceptedOf, recipientsOf } from '../accept/accepted-job.ts';
import { type BatchRecord, type Claim, invocationOf } from '../dispatch/claim.ts';
import { batchRecordOf, claimOf } from '../dispatch/claim-items.ts';
import {
  acceptedKey,
  batchKey,
  claimPartition,
  claimsPerPartition,
  invocationOfBatch,
  jobKey,
  jobPartition,
  receiptGroupOf,
  receiptPartition,
  recipientsPrefix,
} from '../items.ts';
import { type JobHead, JobHeadSchema } from '../job.ts';
import { type JobState, JobStateSchema } from '../job-state.ts';
import { fold, type Proven } from '../receipts/fold.ts';
import { receiptsOf } from '../receipts/receipt-items.ts';
import { type DescribedJob, isForgotten } from './described-job.ts';
import { batchRecordDecides, outcomeOf, type ReportedOutcome, reported } from './outcome.ts';

/** What is written of some messages of a job. */
export interface WrittenMessages {
  readonly claims: ReadonlyMap<number, Claim>;
  readonly proofs: ReadonlyMap<number, Proven>;
}

/** Tells what became of the messages of some partitions, by their index in the job. */
export type OutcomeAt = (index: number) => ReportedOutcome;

/**
 * The read side of jobs and of what became of their messages. Each method is one round trip, however much it reads, as
 * long as every partition fits the page of a query, and every partition of a job of 10,000 does.
 */
export interface Report {
  /**
   * Undefined for a job that was never accepted, was withdrawn, or is older than 30 days. What eventually consistent
   * reading does not show is looked for once more: a second round trip, but only for a job that was accepted a moment ago
   * and where there is none.
   */
  findDescribed(jobId: string): Promise<DescribedJob | undefined>;
  /**
   * Claims and receipts of these partitions of claims. Who takes a message without a claim for one that ended with its job
   * reads the claims strongly, after the job (items.ts, `mayStop`).
   */
  readMessages(
    jobId: string,
    partitions: readonly number[],
    read?: { readonly consistent: boolean },
  ): Promise<WrittenMessages>;
  /** Reads the batch records without which an outcome is not known, and tells outcomes as they are now. */
  judge(job: JudgedJob, written: WrittenMessages): Promise<OutcomeAt>;
}

/** The job of the messages, as it was before they were read. */
export interface JudgedJob extends JobState {
  readonly head: Pick<JobHead, 'jobId'>;
}

interface StoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly nowMs: () => number;
  readonly pause?: Pause;
  /** Operators see what is, and pay twice for it. */
  readonly consistent?: boolean;
}

/** A job that was withdrawn before it began has no head. */
const JobItemSchema = v.object({
  head: v.optional(v.pipe(v.string(), v.parseJson(), JobHeadSchema)),
  withdrawnAtMs: v.optional(v.number()),
  /** Of a job that went straight: all there is to describe. */
  to: v.optional(v.string()),
  ...JobStateSchema.entries,
});

export function reportStore(options: StoreOptions): Report {
  const { client, table, nowMs, pause = storePause, consistent = false } = options;
  const messages = { documentClient: client, tableName: table, pause };
  return {
    findDescribed: async (jobId) => {
      const seen = describedIn(await itemsOf(jobPartition(jobId), consistent));
      const found = consistent || seen?.isWhole === true ? seen : describedIn(await itemsOf(jobPartition(jobId), true));
      return found === undefined || isForgotten(found.head, nowMs()) ? undefined : found;
    },

    readMessages: async (jobId, partitions, read = { consistent }) => {
      const groups = [...new Set(partitions.map((partition) => receiptGroupOf(partition * claimsPerPartition)))];
      const [claims, receipts] = await Promise.all([
        Promise.all(partitions.map((partition) => itemsOf(claimPartition(jobId, partition), read.consistent))),
        Promise.all(groups.map((group) => itemsOf(receiptPartition(jobId, group), consistent))),
      ]);
      return {
        claims: new Map(claims.flat().map((item) => [Number(item['sk']), claimOf(jobId, item)])),
        proofs: proofsIn(receipts.flat()),
      };
    },

    judge: async (job, { claims, proofs }) => {
      const { jobId } = job.head;
      const doubtful = [...claims].filter(([index, claim]) => batchRecordDecides(claim, proofs.get(index)));
      const invocations = [...new Set(doubtful.map(([, { at }]) => invocationOf(at)))];
      // Of a stopped job, a record that is not there yet may decide between sent and not (`endedByStop`).
      const read = { consistent: consistent || job.stop !== undefined };
      const items = await batchGet(messages, invocations.map(batchKey), read);
      const batches = new Map<string, BatchRecord>(
        items.map((item) => [invocationOfBatch(item['pk']), batchRecordOf(item)]),
      );
      return (index) => {
        const claim = claims.get(index);
        const batch = claim === undefined ? undefined : batches.get(invocationOf(claim.at));
        return reported(outcomeOf({ jobId, index }, { claim, batch, job }, nowMs()), proofs.get(index));
      };
    },
  };

  async function itemsOf(partition: string, isConsistent: boolean): Promise<Item[]> {
    const items: Item[] = [];
    for await (const page of queryPages(messages, partition, { sort: undefined, consistent: isConsistent })) {
      for (const item of page) items.push(item);
    }
    return items;
  }
}

/** What the items of a job's own partition say; undefined when there is no such job. */
function describedIn(items: readonly Item[]): (DescribedJob & { readonly isWhole: boolean }) | undefined {
  const itemAt = ({ sk }: { readonly sk: string }) => items.find((item) => item['sk'] === sk);
  const job = v.parse(v.optional(JobItemSchema), itemAt(jobKey('')));
  if (job?.withdrawnAtMs !== undefined) return undefined;
  const item = itemAt(acceptedKey(''));
  const accepted = item === undefined ? undefined : acceptedOf(item);
  const head = accepted?.head ?? job?.head;
  if (head === undefined) return undefined;
  const some = items.filter(({ sk }) => String(sk).startsWith(recipientsPrefix)).flatMap(recipientsOf);
  const recipients = new Map(job?.to === undefined ? some : [[0, job.to]]);
  const isWhole = accepted?.whole !== true || recipients.size === head.total;
  const { stop, parked, pausedFromMs, endedAtMs } = job ?? {};
  const state = present({ stop, parked, pausedFromMs, endedAtMs });
  return { head, repeats: accepted?.repeats ?? [], recipients, isWhole, ...state };
}

function proofsIn(items: readonly Item[]): Map<number, Proven> {
  const byMessage = Map.groupBy(items.flatMap(receiptsOf), ({ index }) => index);
  const proofs = new Map<number, Proven>();
  for (const [index, receipts] of byMessage) {
    const proven = fold(receipts);
    if (proven !== undefined) proofs.set(index, proven);
  }
  return proofs;
}
