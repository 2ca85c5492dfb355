import { Refusal } from '../../http/refusal.ts';
import { omitUndefined } from '../../keys/omit-undefined.ts';
import type { KnownRates } from '../../pricing/rates-of-day.ts';
import { recipientsPerPartition } from '../dispatch/claims/slice-items.ts';
import { type JobHead, jobIdPattern } from '../job.ts';
import type { JobProgress } from '../watch/watch.ts';
import { type Cost, costOf, marketAt, releasedHead } from './cost.ts';
import { type DescribedJob, isStoppedLately, placesOf } from './described-job.ts';
import {
  countStates,
  type OutcomeAt,
  type OutcomeCounts,
  outcomesOf,
  underWayIn,
  type WrittenMessages,
} from './outcome.ts';
import { type DispatchStatus, type ReportPage, reportPage } from './report.ts';
import { partitionsOf, partitionsOfJob, type ReportPlace, type ReportQuery } from './report-cursor.ts';
import type { Report } from './report-store.ts';

export interface ReportPorts {
  readonly report: Report;
  readonly rates: () => Promise<KnownRates>;
  readonly nowMs: () => number;
}

/** A later page has its messages from the same round trip as the job. */
export interface OpenReport {
  readonly job: DescribedJob;
  readonly from?: ReportPlace;
  readonly written?: WrittenMessages;
}

/**
 * Makes the first of two round trips for the first page, the only one for later pages. The caller must check the job's
 * owner before it shows anything.
 */
export async function openReport(
  report: Report,
  question: ReportQuery,
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

/** Returns the job of a dispatch id, or undefined if there is none or the id is malformed. */
export async function describedJob(report: Report, dispatchId: string): Promise<DescribedJob | undefined> {
  return jobIdPattern.test(dispatchId) ? await report.findDescribed(dispatchId) : undefined;
}

/** Reads the rest of the page. A later page of a job that stopped just now takes one more round trip. */
export async function readPage(
  report: Report,
  question: ReportQuery,
  open: OpenReport,
  { nowMs, rates }: { readonly nowMs: number; readonly rates: KnownRates },
): Promise<ReportPage> {
  const { jobId } = question;
  const { job, from } = open;
  const read = isStoppedLately(job, nowMs) ? { consistent: true } : undefined;
  const asRead = read === undefined ? open.written : undefined;
  const written = asRead ?? (await report.readMessages(jobId, partitionsOf(question, from ?? job.head.total), read));
  const outcomeAt = outcomesOf(job, written) ?? takenBack();
  const costNow = () => costNowOf(job, { written, outcomeAt }, rates);
  return reportPage(job, question, { from, outcomeAt, costNow });
}

/**
 * Looks at a job again, cheaply: final partitions are not read until all are final. Then the whole job is read once for
 * its counts.
 */
export async function countsOf(
  report: Report,
  jobId: string,
  knownFinal: readonly number[] = [],
): Promise<JobProgress | undefined> {
  const found = await report.findDescribed(jobId);
  if (found === undefined) return undefined;
  const job = await reckoned(report, found);
  const { head } = job;
  const facts = { head, ...omitUndefined({ lots: job.lots, reserved: job.reserved }) };
  const all = partitionsOfJob(head.total);
  const open = all.filter((partition) => !knownFinal.includes(partition));
  const outcomeAt = await outcomesIn(report, job, open);
  if (outcomeAt === undefined) return undefined;
  const finalPartitions = all.filter((partition) => !open.includes(partition) || isFinal(partition, head, outcomeAt));
  if (finalPartitions.length < all.length) return { ...facts, finalPartitions };
  const asWhole = open.length === all.length ? outcomeAt : await outcomesIn(report, job, all);
  if (asWhole === undefined) return undefined;
  const counts = countsIn(job, asWhole);
  if (counts.pending === 0) return { ...facts, finalPartitions, counts };
  return { ...facts, finalPartitions: all.filter((partition) => isFinal(partition, head, asWhole)) };
}

/** Returns the standing of a job whose state a cancellation has just changed (D53). */
export async function statusNow(report: Report, job: DescribedJob, rates: KnownRates): Promise<DispatchStatus> {
  const all = partitionsOfJob(job.head.total);
  const known = await writtenIn(report, await reckoned(report, job), all);
  const outcomeAt = known.outcomeAt ?? takenBack();
  return { counts: countsIn(job, outcomeAt), cost: costNowOf(job, { ...known, outcomeAt }, rates) };
}

function costNowOf(
  job: DescribedJob,
  { written, outcomeAt }: { readonly written: WrittenMessages; readonly outcomeAt: OutcomeAt },
  rates: KnownRates,
): Cost {
  const { head } = job;
  const messages = Array.from({ length: head.total }, (_, index) => ({
    outcome: outcomeAt(index),
    proven: written.proofs.get(index),
    market: marketAt(job, index),
  }));
  return costOf(releasedHead(job), messages, rates).cost;
}

/** Returns all outcomes of a job, read strongly: ended messages have ended for good. */
export async function outcomesNow(
  report: Report,
  found: DescribedJob,
): Promise<{ readonly outcomeAt: OutcomeAt; readonly written: WrittenMessages }> {
  const job = await reckoned(report, found);
  const { jobId, total } = job.head;
  const written = await report.readMessages(jobId, partitionsOfJob(total), { consistent: true });
  return { outcomeAt: outcomesOf(job, written) ?? takenBack(), written };
}

/**
 * Writes the tries under way of a stopped job, once: from then on all other outcomes are final (items.ts, `mayReckon`).
 */
async function reckoned(report: Report, job: DescribedJob): Promise<DescribedJob> {
  const { stop, underWay, head } = job;
  if (stop === undefined || underWay !== undefined) return job;
  const written = await report.readMessages(head.jobId, partitionsOfJob(head.total), { consistent: true });
  return { ...job, underWay: await report.reckon(head.jobId, underWayIn(written)) };
}

/** Returns outcomes of these partitions; for a stopped job read strongly, so that unclaimed slices are certain. */
async function outcomesIn(
  report: Report,
  job: DescribedJob,
  partitions: readonly number[],
): Promise<OutcomeAt | undefined> {
  return (await writtenIn(report, job, partitions)).outcomeAt;
}

async function writtenIn(report: Report, job: DescribedJob, partitions: readonly number[]) {
  const read = job.stop === undefined ? undefined : { consistent: true };
  const written = await report.readMessages(job.head.jobId, partitions, read);
  return { written, outcomeAt: outcomesOf(job, written) };
}

function takenBack(): never {
  throw new Refusal('dispatch_not_found', 'dispatch not found');
}

function countsIn(job: DescribedJob, outcomeAt: OutcomeAt): OutcomeCounts {
  return countStates(placesOf(job).map(({ index }) => outcomeAt(index).state));
}

function isFinal(partition: number, { total }: JobHead, outcomeAt: OutcomeAt): boolean {
  const first = partition * recipientsPerPartition;
  const size = Math.min(recipientsPerPartition, total - first);
  return Array.from({ length: size }, (_, at) => first + at).every((index) => outcomeAt(index).state !== 'pending');
}
