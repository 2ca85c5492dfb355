import * as v from 'valibot';
import { queueBody } from '../../aws/queue-body.ts';
import { queuedMessage } from '../../aws/queued-message.ts';

/** Queued jobs carry this version (D47). */
export const jobMessageVersion = 1;

/** The job is stored before this message is queued (whole-job.ts, parameter-pages.ts). */
const JobMessageSchema = v.object({
  version: v.literal(jobMessageVersion),
  jobId: v.string(),
  clientId: v.number(),
  acceptedAtMs: v.number(),
  correlationId: v.exactOptional(v.string()),
  /** The fan-out's first round has none. */
  round: v.exactOptional(v.number()),
  /** The previous round waited this long for a parked job. */
  parkedSeconds: v.exactOptional(v.number()),
});
export type JobMessage = Omit<v.InferOutput<typeof JobMessageSchema>, 'version'>;

export function encodeJob(message: JobMessage): string {
  return queueBody({ version: jobMessageVersion, ...message });
}

/** Inverts `encodeJob`. Throws for any other text, and `LaterVersion`. */
export function decodeJob(body: string): JobMessage {
  const { version: _version, ...message } = v.parse(JobMessageSchema, queuedMessage(body, jobMessageVersion));
  return message;
}
