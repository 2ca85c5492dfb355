import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { cancelled, type JobStates } from '../job-state.ts';
import type { KnownRates } from './cost.ts';
import type { DescribedJob } from './described-job.ts';
import { standingNow } from './read-report.ts';
import type { DispatchStanding } from './report.ts';
import type { Report } from './report-store.ts';

export interface CancelPorts {
  readonly report: Report;
  readonly states: Pick<JobStates, 'of' | 'stop'>;
  readonly rates: () => Promise<KnownRates>;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/**
 * Cancels what no worker has claimed of a job, and says where all of it stands by then (D53). Nothing that a worker
 * claims from now on is sent, and nothing that is counted as ended is pending again. Repeated, or of a job that was stopped
 * otherwise before, it changes nothing.
 */
export async function cancelJob(ports: CancelPorts, job: DescribedJob): Promise<DispatchStanding> {
  const { jobId, clientId } = job.head;
  const stopped = await ports.states.stop(job.head, cancelled(ports.nowMs()));
  if (stopped) ports.log('job.cancelled', { jobId, clientId });
  // As it is stopped: another one's word may have been first.
  const state = (await ports.states.of([jobId])).get(jobId);
  return await standingNow(ports.report, { ...job, ...state }, await ports.rates());
}
