import * as v from 'valibot';
import { present } from '../keys/present.ts';
import { isUserId } from '../platform/user-id.ts';
import { aboutJob, aboutSchema, type JobHead, JobHeadSchema, MessageRequestSchema, sendPathSchema } from './job.ts';
import { LotSchema } from './lots.ts';

/** The format in which chunks are queued now (D47). */
export const chunkVersion = 1;

/** The message of one recipient in a chunk. Its dispatch id is `<jobId>-<index>`, whatever chunk carries it. */
const ChunkRecipientSchema = v.object({
  index: v.number(),
  /** Absent where the operator had erased the person before (D60). */
  to: v.exactOptional(v.string()),
  /** The request body for the platform, ready to post; absent where it cannot be composed: then the message fails (R14). */
  request: v.exactOptional(MessageRequestSchema),
  /** It has no request because its template has changed since acceptance, and its parameters do not fit any more (D56). */
  unfit: v.exactOptional(v.literal(true)),
  /** Deliveries that ended provably unsent so far, by what they waited for (pace/pacing.ts). */
  attempts: v.exactOptional(v.record(v.string(), v.number())),
  /** The platform takes nothing for this person from this number before then, or a wait of its own is over then. */
  notBeforeMs: v.exactOptional(v.number()),
});
export type ChunkRecipient = v.InferOutput<typeof ChunkRecipientSchema>;

/** Up to ten consecutive recipients of a job, and the try that is to be made of them (dispatch/claims/slice.ts). */
const ChunkSliceSchema = v.object({
  try: v.number(),
  /** Recipients of the whole slice: those of earlier tries that have ended are not carried any more. */
  size: v.number(),
  /** Where the first of the recipients stands in the lane; the others follow. Absent: the worker reserves (D43). */
  position: v.exactOptional(v.number()),
  /** The position is in the lane of what has missed its slots. */
  isLate: v.exactOptional(v.literal(true)),
  recipients: v.array(ChunkRecipientSchema),
});
export type ChunkSlice = v.InferOutput<typeof ChunkSliceSchema>;

/** What a chunk says of its job: all that its worker needs to send, to pace and to tell. */
const ChunkOfJobSchema = v.object({
  jobId: v.string(),
  clientId: v.number(),
  wabaId: v.string(),
  phoneNumberId: v.string(),
  credential: v.string(),
  path: sendPathSchema,
  category: v.string(),
  acceptedAtMs: v.number(),
  expiresAtMs: v.exactOptional(v.number()),
  /** As in the head of its job. */
  keptUntilMs: v.exactOptional(v.number()),
  /** When its recipients may be called, for a send with a time of its own (D56): the lots of its slices, with what is still to come. */
  lots: v.exactOptional(v.pipe(v.array(LotSchema), v.readonly())),
  correlationId: v.exactOptional(v.string()),
  about: aboutSchema,
  /** One-time codes of a small request: they go before others of their number (D44). */
  urgent: v.exactOptional(v.literal(true)),
  /** A platform app tells of the number what became of messages (D38). */
  receiptsExpected: v.exactOptional(v.literal(true)),
  /** Who wants no marketing is not called (D55). */
  heedsOptOuts: v.exactOptional(v.literal(true)),
  /** As in the head of its job. */
  reservedUnits: v.exactOptional(v.number()),
  /** It is all there is of its job, so that its end is the end of the job (D41). */
  alone: v.exactOptional(v.literal(true)),
  /** Acceptance has queued it itself, and its job may not have begun yet (items.ts, `mayBegin`). */
  straight: v.exactOptional(v.literal(true)),
  /** What its number may send, as last read when it was queued. */
  limitPerSecond: v.number(),
  /** The lane of the number's schedule that its positions are in. */
  lane: v.string(),
});

/** One message of the dispatch queue: consecutive slices of one job, composed, or what is left of them after a try. */
export const QueuedChunkSchema = v.object({
  version: v.literal(chunkVersion),
  ...ChunkOfJobSchema.entries,
  slices: v.array(ChunkSliceSchema),
  /** When its first slot was to come as it was first reserved; absent once it has waited for a hold or an outage (dispatch/punctuality.ts). */
  plannedMs: v.exactOptional(v.number()),
  /** Times that slots of it had passed before they could be used. */
  missedSlots: v.exactOptional(v.number()),
  /** Deliveries in a row of which nothing could be placed or claimed, because the store did not answer. */
  storeFailures: v.exactOptional(v.number()),
});
export type QueuedChunk = v.InferOutput<typeof QueuedChunkSchema>;

/** A queue message of so much text is billed as several, and a run has its slices to wait for: a chunk is cut before. */
export const mostChunkBytes = 200_000;

/**
 * A chunk of the job without its slices. `limitPerSecond`: messages a second that its number may send, by the platform's last
 * word.
 */
export function chunkOfJob(
  head: JobHead,
  { limitPerSecond, lane }: Pick<QueuedChunk, 'limitPerSecond' | 'lane'>,
): Omit<QueuedChunk, 'slices'> {
  const { jobId, clientId, wabaId, phoneNumberId, credential, path, category, acceptedAtMs } = head;
  const { expiresAtMs, keptUntilMs, correlationId, receiptsExpected, heedsOptOuts, reservedUnits } = head;
  return {
    version: chunkVersion,
    ...{ jobId, clientId, wabaId, phoneNumberId, credential, path, category, acceptedAtMs, limitPerSecond, lane },
    ...present({ expiresAtMs, keptUntilMs, correlationId, receiptsExpected, heedsOptOuts, reservedUnits }),
    about: aboutJob(head),
  };
}

/*
 * A request of up to ten recipients goes straight: acceptance puts its one chunk into a dispatch queue, and there is no job
 * message, no fan-out and no stored parameter. Its job begins with `head` and `to`, written by the acceptance once the queue
 * has confirmed the chunk, or by the worker that has claimed it. Slice 0 decides between that claim and a withdrawal.
 */

/** A request of so many recipients is one slice, and needs no fan-out. */
export const straightRecipients = 10;

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
export function addressesOfChunk({ slices }: QueuedChunk): (string | undefined)[] {
  return slices.flatMap(({ recipients }) => recipients.map(({ to }) => to));
}
