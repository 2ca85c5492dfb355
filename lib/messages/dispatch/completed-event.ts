import { omitUndefined } from '../../keys/omit-undefined.ts';
import { type DispatchCompletedData, type DispatchData, eventId, type ServiceEvent } from '../../webhooks/event.ts';
import type { AboutJob } from '../job.ts';

type Ended = Omit<DispatchCompletedData['counts'], 'pending'>;

const none: Ended = { held: 0, sent: 0, delivered: 0, read: 0, failed: 0, expired: 0, unknown: 0 };

export interface NotifiedJob {
  readonly jobId: string;
  readonly clientId: number;
  readonly acceptedAtMs: number;
  readonly about: AboutJob;
}

export function dispatchData({ jobId, acceptedAtMs, about }: Omit<NotifiedJob, 'clientId'>): DispatchData {
  return {
    job_id: jobId,
    did: about.did,
    template: about.template,
    ...omitUndefined({ campaign_id: about.campaignId, attends: about.attends }),
    accepted_at: new Date(acceptedAtMs).toISOString(),
  };
}

/**
 * Returns the event that nothing of a job is pending (D41). It has one id per job, whichever run emits it; a repetition
 * may count newer receipts.
 */
export function completedEvent(job: NotifiedJob, ended: Partial<Ended>, timestampMs: number): ServiceEvent {
  const { jobId, clientId } = job;
  const counts: DispatchCompletedData['counts'] = { pending: 0, ...none, ...ended };
  const data: DispatchCompletedData = {
    ...dispatchData(job),
    total: Object.values(counts).reduce((sum, each) => sum + each, 0),
    counts,
  };
  const type = 'dispatch.completed';
  return { id: eventId(type, clientId, [jobId]), clientId, type, timestampMs, data };
}
