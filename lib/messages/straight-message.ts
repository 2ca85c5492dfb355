import * as v from 'valibot';
import { present } from '../keys/present.ts';
import { type DispatchMessage, type JobHead, JobHeadSchema } from './job.ts';

/*
 * A request of one recipient goes straight: acceptance puts its message into the dispatch queue, and there is no job message
 * and no fan-out. Who writes what, and in which order: items.ts, `mayBegin`.
 */

/** The head of the job of a straight message, whoever writes it: the message has all of it. */
export function headOfStraight(message: DispatchMessage): JobHead {
  const { about, limitPerSecond } = message;
  return v.parse(JobHeadSchema, {
    ...message,
    ...present({ campaignId: about.campaignId, attends: about.attends }),
    did: about.did,
    throughputPerSecond: limitPerSecond,
    templateName: about.template.name,
    templateLanguage: about.template.language,
    total: 1,
  });
}

/** The address of its one recipient. */
export function recipientOfStraight({ request }: DispatchMessage): string {
  return v.parse(v.string(), request.to ?? request.recipient);
}
