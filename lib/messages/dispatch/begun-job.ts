import type { DispatchMessage } from '../job.ts';
import type { JobState } from '../job-state.ts';
import type { DispatchPorts } from './dispatch-ports.ts';

/**
 * Whether the job of a message counts (items.ts, `mayBegin`), by its state, read strongly. Messages of a fan-out are queued
 * after their job has begun. The job of a straight one, where acceptance has not come to it, begins here: false when it was
 * taken back, and its client told that nothing is sent. Throws when the store cannot be reached.
 */
export async function hasBegun(
  message: DispatchMessage,
  state: JobState,
  { straightJobs, log }: Pick<DispatchPorts, 'straightJobs' | 'log'>,
): Promise<boolean> {
  if (message.straight === undefined || state.begun) return true;
  if ((await straightJobs.begin(message)) === 'begun') return true;
  const { jobId, clientId } = message;
  log('job.withdrawn', { jobId, clientId });
  return false;
}
