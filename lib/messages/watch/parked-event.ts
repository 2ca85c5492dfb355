import { eventId, type ServiceEvent } from '../../webhooks/event.ts';
import { dispatchData, type NotifiedJob } from '../dispatch/completed-event.ts';
import type { JobParked } from '../job-state.ts';

/** Returns the event that the rest of a job waits for a hold (D46), with one id per waiting. */
export function parkedEvent(
  job: NotifiedJob,
  { code, scope, sinceMs, untilMs }: JobParked & { readonly untilMs: number },
): ServiceEvent {
  const type = 'dispatch.parked';
  const { jobId, clientId } = job;
  const data = {
    ...dispatchData(job),
    ...{ code, scope },
    parked_at: new Date(sinceMs).toISOString(),
    expires_at: new Date(untilMs).toISOString(),
  };
  return { id: eventId(type, clientId, [jobId, sinceMs]), clientId, type, timestampMs: sinceMs, data };
}

/** Returns the event that the pause of `sinceMs` has ended and the job goes on (D46). */
export function resumedEvent(job: NotifiedJob, { code, scope, sinceMs }: JobParked, timestampMs: number): ServiceEvent {
  const type = 'dispatch.resumed';
  const { jobId, clientId } = job;
  const data = { ...dispatchData(job), code, scope, parked_at: new Date(sinceMs).toISOString() };
  return { id: eventId(type, clientId, [jobId, sinceMs]), clientId, type, timestampMs, data };
}
