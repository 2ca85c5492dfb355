import { claimsPerPartition } from '../items.ts';
import { type JobHead, jobIdPattern } from '../job.ts';
import { type DescribedJob, isStoppedLately, placesOf } from './described-job.ts';
import { countStates, type OutcomeCounts } from './outcome.ts';
import { type ReportPage, reportPage } from './report.ts';
import { partitionsOf, partitionsOfJob, type ReportPlace, type ReportQuestion } from './report-place.ts';
import type { OutcomeAt, Report, WrittenMessages } from './report-store.ts';

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
  if (from === undefined) {
    const job = await describedJob(report, jobId);
    return job === undefined ? undefined : { job };
  }
  if (!jobIdPattern.test(jobId)) return undefined;
  const [job, written] = await Promise.all([
    report.findDescribed(jobId),
    report.readMessages(jobId, partitionsOf(question, from)),
  ]);
  return job === undefined ? undefined : { job, from, written };
}

/** The job that a client names; undefined when there is none, and for what cannot be the id of one. */
export async function describedJob(report: Report, dispatchId: string): Promise<DescribedJob | undefined> {
  return jobIdPattern.test(dispatchId) ? await report.findDescribed(dispatchId) : undefined;
}

/** The rest of the page; one more round trip for a later page of a job that was stopped a moment ago. */
export async function readPage(
  report: Report,
  question: ReportQuestion,
  open: OpenReport,
  nowMs: number,
): Promise<ReportPage> {
  const { jobId } = question;
  const { job, from } = open;
  const read = isStoppedLately(job, nowMs) ? { consistent: true } : undefined;
  const asRead = read === undefined ? open.written : undefined;
  const written = asRead ?? (await report.readMessages(jobId, partitionsOf(question, from ?? job.head.total), read));
  return reportPage(job, question, { from, outcomeAt: await report.judge(job, written) });
}

/** How far a job is, for whoever waits for its end. */
export interface JobProgress {
  readonly head: JobHead;
  /**
   * Partitions of claims of which nothing is pending any more. That stays so, whatever receipts still come; of a stopped job,
   * whose messages somebody may yet claim to settle them, once its end is written.
   */
  readonly finalPartitions: readonly number[];
  /** Once nothing of the job is pending. */
  readonly counts?: OutcomeCounts;
  /** The job was stopped, and that it has ended is not written yet. */
  readonly endToWrite?: true;
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
  const all = partitionsOfJob(head.total);
  const open = all.filter((partition) => !knownFinal.includes(partition));
  const outcomeAt = await outcomesIn(report, job, open);
  const finalPartitions = all.filter((partition) => !open.includes(partition) || isFinal(partition, head, outcomeAt));
  if (finalPartitions.length < all.length) return { head, finalPartitions };
  const asWhole = open.length === all.length ? outcomeAt : await outcomesIn(report, job, all);
  const counts = countsIn(job, asWhole);
  const endToWrite = job.stop !== undefined && job.endedAtMs === undefined ? { endToWrite: true as const } : {};
  if (counts.pending === 0) return { head, finalPartitions, counts, ...endToWrite };
  return { head, finalPartitions: all.filter((partition) => isFinal(partition, head, asWhole)) };
}

/** The counts of a job as it is at this moment, for whoever has just changed its state (D53). */
export async function countsNow(report: Report, job: DescribedJob): Promise<OutcomeCounts> {
  const all = partitionsOfJob(job.head.total);
  return countsIn(job, await outcomesIn(report, job, all));
}

/** What became of the messages of these partitions. Where it matters for good, that nobody has claimed a message is certain. */
async function outcomesIn(report: Report, job: DescribedJob, partitions: readonly number[]): Promise<OutcomeAt> {
  const read = job.stop === undefined ? undefined : { consistent: true };
  return await report.judge(job, await report.readMessages(job.head.jobId, partitions, read));
}

function countsIn(job: DescribedJob, outcomeAt: OutcomeAt): OutcomeCounts {
  return countStates(placesOf(job).map(({ index }) => outcomeAt(index).state));
}

function isFinal(partition: number, { total }: JobHead, outcomeAt: OutcomeAt): boolean {
  const first = partition * claimsPerPartition;
  const size = Math.min(claimsPerPartition, total - first);
  return Array.from({ length: size }, (_, at) => first + at).every((index) => outcomeAt(index).state !== 'pending');
}
