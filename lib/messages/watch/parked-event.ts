import { eventId, type ServiceEvent } from '../../webhooks/event.ts';
import { dispatchData, type ToldJob } from '../dispatch/completed-event.ts';

/** The event that what is left of a job waits for its template (D46). One for each waiting, however often it is told. */
export function parkedEvent(
  job: ToldJob,
  { sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number },
): ServiceEvent {
  const type = 'dispatch.parked';
  const { jobId, clientId } = job;
  const data = {
    ...dispatchData(job),
    code: 'template_paused' as const,
    parked_at: new Date(sinceMs).toISOString(),
    expires_at: new Date(untilMs).toISOString(),
  };
  return { id: eventId(type, clientId, [jobId, sinceMs]), clientId, type, timestampMs: sinceMs, data };
}

/** The event that the waiting since then is over and the job goes on (D46). */
export function resumedEvent(job: ToldJob, sinceMs: number, timestampMs: number): ServiceEvent {
  const type = 'dispatch.resumed';
  const { jobId, clientId } = job;
  const data = { ...dispatchData(job), parked_at: new Date(sinceMs).toISOString() };
  return { id: eventId(type, clientId, [jobId, sinceMs]), clientId, type, timestampMs, data };
}
