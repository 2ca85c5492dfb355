import * as v from 'valibot';
import { present } from '../keys/present.ts';

/** One recipient of a send request, as validated (contract, params of a recipient). */
const CardParamsSchema = v.object({ body: v.optional(v.array(v.string())), buttons: v.optional(v.array(v.string())) });

const ProductSchema = v.object({
  type: v.literal('action'),
  action: v.object({
    thumbnailProductRetailerId: v.string(),
    sections: v.optional(
      v.array(v.object({ title: v.string(), product_items: v.array(v.object({ product_retailer_id: v.string() })) })),
    ),
  }),
});

export const RecipientSchema = v.object({
  to: v.string(),
  params: v.optional(
    v.object({
      header: v.optional(v.array(v.string())),
      body: v.optional(v.array(v.string())),
      buttons: v.optional(v.array(v.string())),
      products: v.optional(v.array(ProductSchema)),
      cards: v.optional(v.array(CardParamsSchema)),
    }),
  ),
});

export const HeaderInputSchema = v.variant('type', [
  v.object({
    type: v.picklist(['image_url', 'video_url', 'document_url']),
    value: v.string(),
    filename: v.optional(v.string()),
  }),
  v.object({
    type: v.literal('location'),
    location: v.object({ latitude: v.string(), longitude: v.string(), name: v.string(), address: v.string() }),
  }),
]);

export type Recipient = v.InferOutput<typeof RecipientSchema>;
export type HeaderInput = v.InferOutput<typeof HeaderInputSchema>;

/** A recipient that was dropped because it repeats an earlier one (D25): where it stood in the request, and where that one does. */
export const RepeatSchema = v.tuple([v.number(), v.number()]);
export type Repeat = v.InferOutput<typeof RepeatSchema>;

/** Where a template's messages go (D30). */
const sendPaths = ['messages', 'marketing_messages'] as const;
export type SendPath = (typeof sendPaths)[number];
export const sendPathSchema = v.picklist(sendPaths);

/** Everything that all messages of one accepted request have in common. */
export const JobHeadSchema = v.object({
  jobId: v.string(),
  clientId: v.number(),
  did: v.string(),
  wabaId: v.string(),
  phoneNumberId: v.string(),
  credential: v.string(),
  throughputPerSecond: v.number(),
  /** A platform app tells of its number what became of messages (D38). */
  receiptsExpected: v.exactOptional(v.literal(true)),
  /** One-time codes: they go before others of their number (D44). */
  urgent: v.exactOptional(v.literal(true)),
  path: sendPathSchema,
  templateName: v.string(),
  templateLanguage: v.string(),
  acceptedAtMs: v.number(),
  /** Not handed over by then: the message ends `expired` (D27). */
  expiresAtMs: v.optional(v.number()),
  campaignId: v.optional(v.number()),
  attends: v.optional(v.record(v.string(), v.unknown())),
  total: v.number(),
  correlationId: v.optional(v.string()),
});
export type JobHead = v.InferOutput<typeof JobHeadSchema>;

/** A ULID; clients know it as the dispatch id of their request. */
export const jobIdPattern = /^[0-9A-Z]{26}$/;

/** The format in which messages are queued now. */
export const dispatchMessageVersion = 1;

/** Which position of which lane of its number's schedule a message has (D43). */
export const TurnSchema = v.object({ lane: v.string(), clientId: v.number(), position: v.number() });

/** What the events about a job's messages tell of it (D28, D34). */
export const aboutSchema = v.object({
  did: v.string(),
  template: v.object({ name: v.string(), language: v.string() }),
  campaignId: v.optional(v.number()),
  attends: v.optional(v.record(v.string(), v.unknown())),
});

/**
 * One message of the dispatch queue: a recipient's message, composed and ready to post. The dispatch id is
 * `<jobId>-<index>`: the same on every delivery, redelivery and repeated fan-out of the job.
 */
export const DispatchMessageSchema = v.object({
  jobId: v.string(),
  index: v.number(),
  clientId: v.number(),
  phoneNumberId: v.string(),
  credential: v.string(),
  path: sendPathSchema,
  acceptedAtMs: v.number(),
  expiresAtMs: v.optional(v.number()),
  correlationId: v.optional(v.string()),
  /** The format (D47). */
  version: v.literal(dispatchMessageVersion),
  /** Deliveries that ended provably unsent so far, of every kind together. */
  attempt: v.number(),
  /** The same by what they waited for (pace/pacing.ts). */
  attempts: v.record(v.string(), v.number()),
  /** Times that its slot had passed before it could be called. */
  missedSlots: v.exactOptional(v.number()),
  /** Its place in the schedule of its number; none, or one that has passed: whoever delivers it reserves. */
  turn: v.exactOptional(TurnSchema),
  /** What its number may send, as last read when it was queued. */
  limitPerSecond: v.number(),
  wabaId: v.string(),
  /** It goes before others of its number (D44). */
  urgent: v.exactOptional(v.literal(true)),
  /** It was given back because its job is parked: how that stands now is read before it takes another slot. */
  hasWaited: v.exactOptional(v.literal(true)),
  /** Its recipient gets enough from this number until then. */
  notBeforeMs: v.exactOptional(v.number()),
  about: aboutSchema,
  /** It is all there is of its job, so that its end is the end of the job (D41). */
  alone: v.exactOptional(v.literal(true)),
  /** Acceptance has queued it itself (straight-message.ts): before anything follows from it, its job is to have begun. */
  straight: v.exactOptional(v.literal(true)),
  /** As its job says. */
  receiptsExpected: v.exactOptional(v.literal(true)),
  /** The request body for the platform. */
  request: v.looseObject({ to: v.optional(v.string()), recipient: v.optional(v.string()) }),
});
export type DispatchMessage = v.InferOutput<typeof DispatchMessageSchema>;

/** The same before it is released: what its number may send is not read yet. */
export type ComposedMessage = Omit<DispatchMessage, 'limitPerSecond'>;

/** What the events about a job's messages tell of it. */
export function aboutJob({
  did,
  templateName,
  templateLanguage,
  campaignId,
  attends,
}: JobHead): DispatchMessage['about'] {
  return {
    did,
    template: { name: templateName, language: templateLanguage },
    ...present({ campaignId, attends }),
  };
}

export function dispatchIdOf(message: { readonly jobId: string; readonly index: number }): string {
  return `${message.jobId}-${message.index}`;
}
