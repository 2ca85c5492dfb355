import * as v from 'valibot';
import { queueBody } from '../../aws/queue-body.ts';
import { queuedMessage } from '../../aws/queued-message.ts';

/** The format of queued jobs (D47). */
export const jobMessageVersion = 1;

/** A job on its way to the fan-out, stored before it is queued (whole-job.ts, parameter-pages.ts). */
const JobMessageSchema = v.object({
  version: v.literal(jobMessageVersion),
  jobId: v.string(),
  clientId: v.number(),
  acceptedAtMs: v.number(),
  correlationId: v.exactOptional(v.string()),
  /** The fan-out's round; absent on the first. */
  round: v.exactOptional(v.number()),
  /** How long the previous round waited for a parked job, if it did. */
  parkedSeconds: v.exactOptional(v.number()),
});
export type JobMessage = Omit<v.InferOutput<typeof JobMessageSchema>, 'version'>;

export function encodeJob(message: JobMessage): string {
  return queueBody({ version: jobMessageVersion, ...message });
}

/** The inverse of `encodeJob`. Throws for any other text, and `LaterVersion`. */
export function decodeJob(body: string): JobMessage {
  const { version: _version, ...message } = v.parse(JobMessageSchema, queuedMessage(body, jobMessageVersion));
  return message;
}
