import * as v from 'valibot';
import { present } from '../keys/present.ts';
import { isUserId } from '../platform/user-id.ts';
import type { QueuedChunk } from './chunk.ts';
import { type JobHead, JobHeadSchema } from './job.ts';

/*
 * A request of up to ten recipients goes straight: acceptance puts its one chunk into a dispatch queue, and there is no job
 * message, no fan-out and no stored parameter. Its job begins with `head` and `to`, written by the acceptance once the queue
 * has confirmed the chunk, or by the worker that has claimed it. Slice 0 decides between that claim and a withdrawal.
 */

/** The head of the job of a straight chunk, by acceptance or worker: the chunk has all of it. */
export function headOfChunk(chunk: QueuedChunk): JobHead {
  const { about, limitPerSecond, slices } = chunk;
  const byUserId = addressesOfChunk(chunk).some(isUserId) ? (true as const) : undefined;
  return v.parse(JobHeadSchema, {
    ...chunk,
    ...present({ campaignId: about.campaignId, attends: about.attends, byUserId }),
    did: about.did,
    throughputPerSecond: limitPerSecond,
    templateName: about.template.name,
    templateLanguage: about.template.language,
    total: slices.reduce((sum, { size }) => sum + size, 0),
  });
}

/** The address of each recipient of a straight chunk, in its order; of a later try, of those alone that it still carries. */
export function addressesOfChunk({ slices }: QueuedChunk): string[] {
  return slices.flatMap(({ recipients }) => recipients.map(({ to }) => to));
}
