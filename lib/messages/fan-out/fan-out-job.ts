import { errorName } from '../../observe/error-name.ts';
import type { JobMessage } from '../accept/job-message.ts';
import type { RoundRun } from './job-rounds.ts';
import { type FanOutEnd, type FanOutPorts, Round } from './round.ts';

export type { FanOutEnd, FanOutPorts } from './round.ts';

/**
 * Turns a job into chunks, in rounds (job-rounds.ts), then hands it to the watcher (D41). Is idempotent by claims.
 * Throws when queue or store stay unreachable: SQS then delivers again.
 */
export async function fanOutJob(message: JobMessage, owner: string, ports: FanOutPorts): Promise<FanOutEnd> {
  const { jobId, clientId } = message;
  const run: RoundRun = { jobId, round: message.round ?? 0, owner };
  const heldAtMs = ports.nowMs();
  await ports.hold();
  const job = await ports.jobs.find(jobId);
  if (job === undefined) {
    ports.log('job.never_accepted', { jobId, clientId });
    return 'done';
  }
  if (run.round === 0 && (await ports.jobs.begin(job)) === 'withdrawn') {
    ports.log('job.withdrawn', { jobId, clientId });
    return 'done';
  }
  const takenAtMs = ports.nowMs();
  const taken = await ports.jobs.take(run, takenAtMs);
  if (taken.kind === 'over') return 'done';
  if (taken.kind === 'held') {
    await ports.sendAgain(message, Math.max(1, Math.ceil((taken.untilMs - ports.nowMs()) / 1_000)));
    return 'done';
  }
  const round = new Round({ message, job, run, heldAtMs, takenAtMs }, taken, ports);
  try {
    return await round.work();
  } catch (error) {
    // Without this, the next delivery would wait for the lease as a requeued message and never reach the dead-letter
    // queue.
    await ports.jobs
      .handOver(run, round.progress, { round: run.round, ...round.dueAfter(0) })
      .catch((cause: unknown) => {
        ports.log('job.round_not_released', { jobId, clientId, error: errorName(cause) });
      });
    throw error;
  }
}
