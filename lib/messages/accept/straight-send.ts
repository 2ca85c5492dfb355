import { queueBody, queueMessageMaxBytes } from '../../aws/queue-body.ts';
import { composedMessage, isAlone } from '../composed-message.ts';
import { type DispatchMessage, dispatchIdOf, type JobHead } from '../job.ts';
import { composeMessage } from '../request/compose.ts';
import type { AcceptedSend } from './send-job.ts';

/** A job of one recipient as it goes straight into the dispatch queue, and the text of its message. */
export interface StraightSend {
  readonly message: DispatchMessage;
  readonly body: string;
}

/**
 * The message of a job that needs no job message and no fan-out (D25). Undefined for a job of several messages, and for one
 * that cannot be composed or is larger than a queue message: those the fan-out works off, which ends what cannot be sent.
 * `limitOf`: messages a second that its number may send.
 */
export async function straightSend(
  job: AcceptedSend,
  limitOf: (head: JobHead) => Promise<number>,
): Promise<StraightSend | undefined> {
  const request = isAlone(job) ? requestOf(job) : undefined;
  if (request === undefined) return undefined;
  const limitPerSecond = await limitOf(job.head);
  const message = { ...composedMessage(job, 0, request), limitPerSecond, straight: true } as const;
  const body = queueBody(message);
  return Buffer.byteLength(body) > queueMessageMaxBytes ? undefined : { message, body };
}

function requestOf({ head, plan, recipients: [recipient] }: AcceptedSend): DispatchMessage['request'] | undefined {
  if (recipient === undefined) return undefined;
  try {
    return composeMessage(plan, recipient, dispatchIdOf({ jobId: head.jobId, index: 0 }));
  } catch {
    return undefined;
  }
}
