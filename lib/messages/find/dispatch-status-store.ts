import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { batchGet, type Item } from '../../aws/dynamodb-batch.ts';
import { type Pause, storePause } from '../../aws/pause.ts';
import { omitUndefined } from '../../keys/omit-undefined.ts';
import { type DispatchPointer, jobOfAcceptedItem } from '../accept/whole-job.ts';
import { acceptedKey, jobKey, jobOfPartition, spentKey } from '../items.ts';
import type { JobState } from '../job-state.ts';
import { jobStateOf } from '../job-state-store.ts';
import { isStoppedLately, type PlacedJob, placesOf } from '../report/described-job.ts';
import { countStates, type OutcomeCounts, outcomesOf, type WrittenMessages } from '../report/outcome.ts';
import { partitionsOfJob } from '../report/report-cursor.ts';
import { reportStore } from '../report/report-store.ts';
import { type StatementSummary, summaryOf } from '../spend/statement.ts';

export interface StoredStatus {
  readonly state: JobState;
  readonly counts: OutcomeCounts;
  readonly statement?: StatementSummary;
}

export interface StoredStatuses {
  /**
   * Returns statuses in order, up to a dispatch that needs too much reading (never the first). Null means withdrawn.
   * Makes one round trip, two if a job was stopped just now.
   */
  of(listed: readonly DispatchPointer[]): Promise<readonly (StoredStatus | null)[]>;
}

/**
 * A thousand messages take two queries, for slices and receipts. The newest dispatches of a page share this budget;
 * statements describe the others.
 */
const mostPartitionsRead = 100;

export function dispatchStatusStore(
  client: DynamoDBDocumentClient,
  table: string,
  nowMs: () => number,
  pause: Pause = storePause,
): StoredStatuses {
  const report = reportStore({ client, table, nowMs });
  const read = (jobId: string, total: number, how?: { readonly consistent: boolean }) =>
    report.readMessages(jobId, partitionsOfJob(total), how);

  return {
    of: async (listed) => {
      const live = listed.slice(0, readLive(listed));
      const keys = listed.flatMap(({ jobId }) => [jobKey(jobId), acceptedKey(jobId), spentKey(jobId)]);
      const [items, ...messages] = await Promise.all([
        batchGet({ documentClient: client, tableName: table, pause }, keys, { consistent: true }),
        ...live.map(({ jobId, total }) => read(jobId, total)),
      ]);
      const ofJobs = Map.groupBy(items, (item) => jobOfPartition(item['pk']));
      const standings: (StoredStatus | null)[] = [];
      for (const [at, pointer] of listed.entries()) {
        const job = jobIn(ofJobs.get(pointer.jobId) ?? []);
        const written = isStoppedLately(job.state, nowMs())
          ? await read(pointer.jobId, pointer.total, { consistent: true })
          : messages[at];
        const counts = job.isWithdrawn ? null : countsOf(pointer, job, written);
        if (counts === undefined) break;
        standings.push(counts && { state: job.state, counts, ...omitUndefined({ statement: job.statement }) });
      }
      return standings;
    },
  };
}

/** Returns how many of the newest dispatches are read message by message; at least one. */
function readLive(listed: readonly DispatchPointer[]): number {
  let partitions = 0;
  const end = listed.findIndex(({ total }, at) => {
    partitions += partitionsOfJob(total).length;
    return at > 0 && partitions > mostPartitionsRead;
  });
  return end === -1 ? listed.length : end;
}

interface ReadJob extends Pick<PlacedJob, 'repeats' | 'positions'> {
  readonly isWithdrawn: boolean;
  readonly state: JobState;
  readonly statement?: StatementSummary;
}

function jobIn(items: readonly Item[]): ReadJob {
  const at = ({ sk }: { readonly sk: string }) => items.find((item) => item['sk'] === sk);
  const [job, accepted, counted] = [at(jobKey('')), at(acceptedKey('')), at(spentKey(''))];
  const { repeats = [], positions } = accepted === undefined ? {} : jobOfAcceptedItem(accepted);
  return {
    isWithdrawn: job?.['withdrawnAtMs'] !== undefined,
    state: job === undefined ? {} : jobStateOf(job),
    repeats,
    ...omitUndefined({ positions, statement: counted === undefined ? undefined : summaryOf(counted) }),
  };
}

/** Counts from messages if read, else from the statement. Null means withdrawn, undefined that neither is there. */
function countsOf(
  { jobId, total }: DispatchPointer,
  { state, statement, ...job }: ReadJob,
  written: WrittenMessages | undefined,
): OutcomeCounts | null | undefined {
  if (written === undefined) return statement?.counts;
  const outcomeAt = outcomesOf({ ...state, head: { jobId } }, written);
  if (outcomeAt === undefined) return null;
  const places = placesOf({ ...job, head: { total: total - job.repeats.length } });
  return countStates(places.map(({ index }) => outcomeAt(index).state));
}
