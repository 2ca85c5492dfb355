import * as v from 'valibot';
import { isUserId } from '../../platform/user-id.ts';
import {
  aboutDispatch,
  aboutSchema,
  type DispatchHead,
  DispatchHeadSchema,
  HeaderInputSchema,
  MessageRequestSchema,
  RecipientSchema,
} from './head.ts';
import { LotSchema } from './lots.ts';

/** Queued chunks carry this version (D47). */
export const chunkVersion = 1;

/** A recipient's message id is `<dispatchId>-<index>`, whichever chunk carries it. */
const ChunkRecipientSchema = v.object({
  index: v.number(),
  /** The address is absent once the operator has erased the person (D60). */
  to: v.optional(v.string()),
  /** The request is absent when it cannot be composed: the message then fails (R14). */
  request: v.optional(MessageRequestSchema),
  /** The template has changed and the parameters no longer fit: there is no request (D56). */
  unfit: v.optional(v.literal(true)),
  /** A straight chunk carries what the request was composed from: nothing else stores it. */
  params: v.optional(RecipientSchema.entries.params),
  /** The platform has answered once that it has no such template (132001). */
  notThere: v.optional(v.literal(true)),
  /** This many tries provably sent nothing, by what each waited for (pace/retry-delay.ts). */
  attempts: v.optional(v.record(v.string(), v.number())),
  /** The platform's pair rate, or a wait of the message's own, forbids an earlier call. */
  notBeforeMs: v.optional(v.number()),
});
export type ChunkRecipient = v.InferOutput<typeof ChunkRecipientSchema>;

const ChunkSliceSchema = v.object({
  try: v.number(),
  /** Recipients that an earlier try has ended count too. */
  size: v.number(),
  /**
   * The first recipient has this position in the lane; the others follow. Without it, the worker reserves positions
   * (D43).
   */
  position: v.optional(v.number()),
  /** The position is in the lane for missed slots. */
  isLate: v.optional(v.literal(true)),
  recipients: v.array(ChunkRecipientSchema),
});
export type ChunkSlice = v.InferOutput<typeof ChunkSliceSchema>;

/** A worker needs these facts of the head (D38, D44, D55). */
const factsOfHead = [
  ...(['dispatchId', 'clientId', 'wabaId', 'phoneNumberId', 'credential', 'path', 'category'] as const),
  ...(['acceptedAtMs', 'expiresAtMs', 'keptUntilMs', 'correlationId'] as const),
  ...(['receiptsExpected', 'heedsOptOuts', 'urgent'] as const),
] as const;

const ChunkOfDispatchSchema = v.object({
  ...v.pick(DispatchHeadSchema, factsOfHead).entries,
  /** A scheduled send has the lots of these slices, with the openings that remain (D56). */
  lots: v.optional(v.pipe(v.array(LotSchema), v.readonly())),
  about: aboutSchema,
  /** This chunk is the whole dispatch, so its end is the end of the dispatch (D41). */
  alone: v.optional(v.literal(true)),
  /** Acceptance has queued this chunk itself; its dispatch may not have begun yet (item-writes.ts, `begin`). */
  straight: v.optional(v.literal(true)),
  limitPerSecond: v.number(),
  lane: v.string(),
});

/** One message of the dispatch queue carries consecutive slices of one dispatch, or what a try has left of them. */
export const QueuedChunkSchema = v.object({
  version: v.literal(chunkVersion),
  ...ChunkOfDispatchSchema.entries,
  slices: v.array(ChunkSliceSchema),
  /**
   * Its first slot was first planned then. It is absent once the chunk has waited for a hold or an outage
   * (send/punctuality.ts).
   */
  plannedMs: v.optional(v.number()),
  /** Its slots had passed this often before they could be used. */
  missedSlots: v.optional(v.number()),
  /** The messages were last judged and composed then; by default at acceptance (D46, D56). */
  composedMs: v.optional(v.number()),
  /** A straight chunk carries the request's header and the catalog of its product, as the stored dispatch does. */
  header: v.optional(HeaderInputSchema),
  catalogId: v.optional(v.string()),
  /** This many consecutive deliveries could place or claim nothing because the store did not answer. */
  storeFailures: v.optional(v.number()),
});
export type QueuedChunk = v.InferOutput<typeof QueuedChunkSchema>;

/** SQS bills a larger message as several, and a run waits for all its slices. */
export const mostChunkBytes = 200_000;

/** Returns a chunk of the dispatch without its slices. The platform last reported `limitPerSecond` for the number. */
export function chunkOfDispatch(
  head: DispatchHead,
  { limitPerSecond, lane }: Pick<QueuedChunk, 'limitPerSecond' | 'lane'>,
): Omit<QueuedChunk, 'slices'> {
  const { dispatchId, clientId, wabaId, phoneNumberId, credential, path, category, acceptedAtMs } = head;
  const { expiresAtMs, keptUntilMs, correlationId, receiptsExpected, heedsOptOuts } = head;
  return {
    version: chunkVersion,
    ...{ dispatchId, clientId, wabaId, phoneNumberId, credential, path, category, acceptedAtMs, limitPerSecond, lane },
    expiresAtMs,
    keptUntilMs,
    correlationId,
    receiptsExpected,
    heedsOptOuts,
    about: aboutDispatch(head),
  };
}

// A straight request has no round message, fan-out or stored parameters: acceptance queues its one chunk.

// Acceptance writes `head` and `to` once the queue has confirmed, or the worker after its claim. A withdrawal competes
// for slice 0.

/** A request of so many recipients is one slice and needs no fan-out. */
export const straightRecipients = 10;

export function headOfChunk(chunk: QueuedChunk): DispatchHead {
  const { about, limitPerSecond, slices } = chunk;
  const byUserId = addressesOfChunk(chunk).some(isUserId) ? (true as const) : undefined;
  return v.parse(DispatchHeadSchema, {
    ...chunk,
    campaignId: about.campaignId,
    attends: about.attends,
    byUserId,
    did: about.did,
    throughputPerSecond: limitPerSecond,
    templateName: about.template.name,
    templateLanguage: about.template.language,
    total: slices.reduce((sum, { size }) => sum + size, 0),
  });
}

/** Returns the addresses that a straight chunk carries. A later try carries only open ones. */
export function addressesOfChunk({ slices }: QueuedChunk): (string | undefined)[] {
  return slices.flatMap(({ recipients }) => recipients.map(({ to }) => to));
}
