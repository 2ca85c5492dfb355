import { claimsPerPartition } from '../items.ts';
import { type JobHead, jobIdPattern } from '../job.ts';
import { type DescribedJob, placesOf } from './described-job.ts';
import { countStates, type OutcomeCounts } from './outcome.ts';
import { type ReportPage, reportPage } from './report.ts';
import { partitionsOf, type ReportPlace, type ReportQuestion } from './report-place.ts';
import type { Report, WrittenMessages } from './report-store.ts';

/** A report that is being read: the job, and for a later page its messages, which came in the same round trip. */
export interface OpenReport {
  readonly job: DescribedJob;
  readonly from?: ReportPlace;
  readonly written?: WrittenMessages;
}

/**
 * The first of the round trips of a page: one of three for the first page, one of two for a later one. Undefined when
 * there is no such job. Whose job it is, is for the caller to look at before any of it is told.
 */
export async function openReport(
  report: Report,
  question: ReportQuestion,
  from: ReportPlace | undefined,
): Promise<OpenReport | undefined> {
  const { jobId } = question;
  if (!jobIdPattern.test(jobId)) return undefined;
  if (from === undefined) {
    const job = await report.findDescribed(jobId);
    return job === undefined ? undefined : { job };
  }
  const [job, written] = await Promise.all([
    report.findDescribed(jobId),
    report.readMessages(jobId, partitionsOf(question, from)),
  ]);
  return job === undefined ? undefined : { job, from, written };
}

/** The rest of the page. */
export async function readPage(report: Report, question: ReportQuestion, open: OpenReport): Promise<ReportPage> {
  const { jobId } = question;
  const { job, from } = open;
  const written = open.written ?? (await report.readMessages(jobId, partitionsOf(question, job.head.total)));
  return reportPage(job, question, { from, outcomeAt: await report.judge(jobId, written) });
}

/** How far a job is, for whoever waits for its end. */
export interface JobProgress {
  readonly head: JobHead;
  /** Partitions of claims of which nothing is pending any more: that stays so, whatever receipts still come. */
  readonly finalPartitions: readonly number[];
  /** Once nothing of the job is pending. */
  readonly counts?: OutcomeCounts;
}

/**
 * Looks at a job once more. Cheap to repeat: partitions that were final are not read again until all of them are, and
 * then the job is read as a whole, once, for its counts. Undefined when there is no such job (any more).
 */
export async function countsOf(
  report: Report,
  jobId: string,
  knownFinal: readonly number[] = [],
): Promise<JobProgress | undefined> {
  const job = await report.findDescribed(jobId);
  if (job === undefined) return undefined;
  const { head } = job;
  const all = Array.from({ length: Math.ceil(head.total / claimsPerPartition) }, (_, partition) => partition);
  const open = all.filter((partition) => !knownFinal.includes(partition));
  const outcomeAt = await report.judge(jobId, await report.readMessages(jobId, open));
  const pending = new Set(
    open
      .flatMap((partition) => indexesOf(partition, head.total))
      .filter((index) => outcomeAt(index).state === 'pending')
      .map((index) => Math.floor(index / claimsPerPartition)),
  );
  const finalPartitions = all.filter((partition) => !pending.has(partition));
  if (pending.size > 0) return { head, finalPartitions };
  const asWhole =
    open.length === all.length ? outcomeAt : await report.judge(jobId, await report.readMessages(jobId, all));
  return { head, finalPartitions, counts: countStates(placesOf(job).map(({ index }) => asWhole(index).state)) };
}

function indexesOf(partition: number, total: number): number[] {
  const first = partition * claimsPerPartition;
  return Array.from({ length: Math.min(claimsPerPartition, total - first) }, (_, at) => first + at);
}
