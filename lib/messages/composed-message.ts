import { present } from '../keys/present.ts';
import { aboutJob, type DispatchMessage, dispatchMessageVersion, type JobHead, type Repeat } from './job.ts';

/** The part of a job that its messages have in common. */
export interface ComposedJob {
  readonly head: JobHead;
  readonly repeats?: readonly Repeat[];
}

/** Its one message says itself when the job has ended; what was dropped as its duplicate is for the counts of the report. */
export function isAlone({ head, repeats = [] }: ComposedJob): boolean {
  return head.total === 1 && repeats.length === 0;
}

/** The message of one recipient, composed, before it is given its time. */
export function composedMessage(job: ComposedJob, index: number, request: DispatchMessage['request']): DispatchMessage {
  const { head } = job;
  return {
    jobId: head.jobId,
    index,
    clientId: head.clientId,
    phoneNumberId: head.phoneNumberId,
    credential: head.credential,
    path: head.path,
    acceptedAtMs: head.acceptedAtMs,
    ...present({ expiresAtMs: head.expiresAtMs }),
    correlationId: head.correlationId,
    attempt: 0,
    about: aboutJob(head),
    ...(isAlone(job) ? { alone: true as const } : {}),
    ...present({ receiptsExpected: head.receiptsExpected }),
    request,
  };
}

/** The same as it is queued; `limitPerSecond` is what its number may send. */
export function releasedMessage(message: DispatchMessage, head: JobHead, limitPerSecond: number): DispatchMessage {
  const urgent = head.urgent === undefined ? {} : { urgent: head.urgent };
  return { ...message, version: dispatchMessageVersion, wabaId: head.wabaId, limitPerSecond, ...urgent };
}
