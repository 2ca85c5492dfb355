import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { KnownRates } from '../../pricing/rates-of-day.ts';
import type { JobHead } from '../job.ts';
import { cancelled, type JobStates } from '../job-state.ts';
import type { DescribedJob } from './described-job.ts';
import { countsOf, standingNow } from './read-report.ts';
import type { DispatchStanding } from './report.ts';
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
 * Cancels what no worker has claimed of a job, and says where all of it stands by then (D53). Nothing that a worker
 * claims from now on is sent, and nothing that is counted as ended is pending again. Repeated, or of a job that was stopped
 * otherwise before, it changes nothing.
 */
export async function cancelJob(ports: CancelPorts, job: DescribedJob): Promise<DispatchStanding> {
  await stopJob(ports, job.head);
  const { jobId } = job.head;
  // As it is stopped: another one's word may have been first.
  const state = (await ports.states.of([jobId])).get(jobId);
  return await standingNow(ports.report, { ...job, ...state }, await ports.rates());
}

/**
 * The same of one of many. False of a job that has ended or was stopped before: it is left as it is, and stays so. Undefined
 * where there is none: it was taken back, or its acceptance has listed it and has not begun it yet.
 */
export async function cancelOpenJob(ports: StopPorts, jobId: string): Promise<boolean | undefined> {
  const before = await countsOf(ports.report, jobId);
  if (before === undefined) return undefined;
  if (before.counts !== undefined) return false;
  const stopped = await stopJob(ports, before.head);
  // Tells apart what was under way, as reports count from then on (items.ts, `mayReckon`).
  if (stopped) await countsOf(ports.report, jobId);
  return stopped;
}

async function stopJob({ states, nowMs, log }: StopPorts, head: JobHead): Promise<boolean> {
  const { jobId, clientId } = head;
  const stopped = await states.stop(head, cancelled(nowMs()));
  if (stopped) log('job.cancelled', { jobId, clientId });
  return stopped;
}
