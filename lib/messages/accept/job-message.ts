import * as v from 'valibot';
import { queueBody } from '../../aws/queue-body.ts';
import { queuedMessage } from '../../aws/queued-message.ts';

/** The format in which jobs are queued (D47). */
export const jobMessageVersion = 1;

/** A job on its way to the fan-out: all of it is stored before it is queued (whole-job.ts, parameter-pages.ts). */
const JobMessageSchema = v.object({
  version: v.literal(jobMessageVersion),
  jobId: v.string(),
  clientId: v.number(),
  acceptedAtMs: v.number(),
  correlationId: v.exactOptional(v.string()),
  /** How often the fan-out has queued it again: it releases a job in rounds. Absent on the first. */
  round: v.exactOptional(v.number()),
  /** How long the round before has waited for a parked job. Absent unless it has. */
  parkedSeconds: v.exactOptional(v.number()),
});
export type JobMessage = Omit<v.InferOutput<typeof JobMessageSchema>, 'version'>;

/** The text of a job's message in the send-job queue. */
export function encodeJob(message: JobMessage): string {
  return queueBody({ version: jobMessageVersion, ...message });
}

/** Reads what `encodeJob` writes. Throws when it is none, and `LaterVersion`. */
export function decodeJob(body: string): JobMessage {
  const { version: _version, ...message } = v.parse(JobMessageSchema, queuedMessage(body, jobMessageVersion));
  return message;
}
