import {
  type QueueJobPorts,
  queueStraightRequest,
  storeAndQueueJob,
} from '../../lib/messages/accept/store-and-queue-job.ts';
import { straightRequest } from '../../lib/messages/accept/straight-request.ts';
import type { WholeJob } from '../../lib/messages/accept/whole-job.ts';
import type { Run } from './runs.ts';
import type { Answer, WorldParts } from './world-parts.ts';

const signal = new AbortController().signal;

/** Hands a job over as acceptance does. The answer never comes when the run dies. */
export async function acceptedBy({ queues, rules, stores }: WorldParts, job: WholeJob, run: Run): Promise<Answer> {
  const table = stores.ofAcceptance(run);
  const ports: QueueJobPorts = {
    ...table,
    noteCorrespondents: async () => undefined,
    queue: { send: (body) => run.call('enqueueJob', () => queues.jobs.send(body)) },
    urgentQueue: { send: (body) => run.call('enqueueStraight', () => queues.small.send(body)) },
    remainingMs: () => 29_000,
  };
  const straight = await straightRequest(job, async () => rules.limitPerSecond);
  try {
    await (straight === undefined ? storeAndQueueJob(job, ports) : queueStraightRequest(straight, ports));
  } catch (error) {
    return (error as { code?: string }).code === 'dispatch_unavailable' ? 'refused' : 'undecided';
  }
  const { list, beginStraight } = table.acceptance;
  const shown: Promise<unknown> = straight === undefined ? list(job, signal) : beginStraight(straight, signal);
  await shown.catch(() => undefined);
  return 'accepted';
}
