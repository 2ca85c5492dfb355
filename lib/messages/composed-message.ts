import { present } from '../keys/present.ts';
import {
  aboutJob,
  type ComposedMessage,
  type DispatchMessage,
  dispatchMessageVersion,
  type JobHead,
  type Repeat,
} from './job.ts';

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
export function composedMessage(job: ComposedJob, index: number, request: DispatchMessage['request']): ComposedMessage {
  const { head } = job;
  return {
    version: dispatchMessageVersion,
    jobId: head.jobId,
    index,
    clientId: head.clientId,
    wabaId: head.wabaId,
    phoneNumberId: head.phoneNumberId,
    credential: head.credential,
    path: head.path,
    acceptedAtMs: head.acceptedAtMs,
    ...present({ expiresAtMs: head.expiresAtMs }),
    correlationId: head.correlationId,
    attempt: 0,
    attempts: {},
    about: aboutJob(head),
    ...(isAlone(job) ? { alone: true as const } : {}),
    ...present({ urgent: head.urgent, receiptsExpected: head.receiptsExpected }),
    request,
  };
}
