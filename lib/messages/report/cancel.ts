import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { KnownRates } from '../../pricing/rates-of-day.ts';
import type { JobHead } from '../job.ts';
import { cancelled, type JobStates } from '../job-state.ts';
import type { DescribedJob } from './described-job.ts';
import { countsOf, statusNow } from './read-report.ts';
import type { DispatchStatus } from './report.ts';
import type { Report } from './report-store.ts';

export interface StopPorts {
  readonly report: Report;
  readonly states: Pick<JobStates, 'of' | 'stop'>;
  /** Counts the cost of a job now (spend/count-jobs.ts), which frees what it has reserved and cannot cost any more. */
  readonly countNow: (jobId: string) => Promise<void>;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

type ReservedJob = Pick<DescribedJob, 'head' | 'reserved'>;

export interface CancelPorts extends StopPorts {
  readonly rates: () => Promise<KnownRates>;
}

/**
 * Cancels a job's unclaimed messages, frees what they have reserved, and returns the job's standing (D53). No ended
 * message becomes pending again. Is idempotent: a repetition frees what a dead run has not.
 */
export async function cancelJob(ports: CancelPorts, job: DescribedJob): Promise<DispatchStatus> {
  await stopJob(ports, job.head);
  const { jobId } = job.head;
  // Reads the stop in force: another writer's may have been first.
  const state = (await ports.states.of([jobId])).get(jobId);
  const status = await statusNow(ports.report, { ...job, ...state }, await ports.rates());
  await freeReserved(ports, job);
  return status;
}

/**
 * Cancels one job of many. Returns false when it has ended or was stopped, undefined when it was withdrawn, or has not
 * begun.
 */
export async function cancelOpenJob(ports: StopPorts, jobId: string): Promise<boolean | undefined> {
  const before = await countsOf(ports.report, jobId);
  if (before === undefined) return undefined;
  const stopped = before.counts === undefined && (await stopJob(ports, before.head));
  // Separates the tries under way, which reports count from then on (items.ts, `mayReckon`).
  if (stopped) await countsOf(ports.report, jobId);
  // A run may have died between its stop and its count, so an ended job is counted as well.
  await freeReserved(ports, before);
  return stopped;
}

/** Only a count after the stop was reckoned is sure that no unclaimed message will cost anything. */
async function freeReserved({ countNow }: StopPorts, { head, reserved }: ReservedJob): Promise<void> {
  if (reserved !== undefined) await countNow(head.jobId);
}

async function stopJob({ states, nowMs, log }: StopPorts, head: JobHead): Promise<boolean> {
  const { jobId, clientId } = head;
  const stopped = await states.stop(head, cancelled(nowMs()));
  if (stopped) log('job.cancelled', { jobId, clientId });
  return stopped;
}
