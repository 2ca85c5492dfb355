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
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

export interface CancelPorts extends StopPorts {
  readonly rates: () => Promise<KnownRates>;
}

/**
 * Cancels a job's unclaimed messages and returns its standing (D53). No ended message becomes pending again. Is
 * idempotent.
 */
export async function cancelJob(ports: CancelPorts, job: DescribedJob): Promise<DispatchStatus> {
  await stopJob(ports, job.head);
  const { jobId } = job.head;
  // Reads the stop in force: another writer's may have been first.
  const state = (await ports.states.of([jobId])).get(jobId);
  return await statusNow(ports.report, { ...job, ...state }, await ports.rates());
}

/**
 * Cancels one job of many. Returns false when it has ended or was stopped, undefined when it was withdrawn, or has not
 * begun.
 */
export async function cancelOpenJob(ports: StopPorts, jobId: string): Promise<boolean | undefined> {
  const before = await countsOf(ports.report, jobId);
  if (before === undefined) return undefined;
  if (before.counts !== undefined) return false;
  const stopped = await stopJob(ports, before.head);
  // Separates the tries under way, which reports count from then on (items.ts, `mayReckon`).
  if (stopped) await countsOf(ports.report, jobId);
  return stopped;
}

async function stopJob({ states, nowMs, log }: StopPorts, head: JobHead): Promise<boolean> {
  const { jobId, clientId } = head;
  const stopped = await states.stop(head, cancelled(nowMs()));
  if (stopped) log('job.cancelled', { jobId, clientId });
  return stopped;
}
