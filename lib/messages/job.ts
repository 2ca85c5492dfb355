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

/** One as it is stored: without address and parameters once the operator has erased the person (D60). */
export const StoredRecipientSchema = v.object({ ...RecipientSchema.entries, to: v.exactOptional(v.string()) });
export type StoredRecipient = v.InferOutput<typeof StoredRecipientSchema>;
export type HeaderInput = v.InferOutput<typeof HeaderInputSchema>;

/** A recipient that was dropped because it repeats an earlier one (D25): where it stood in the request, and where that one does. */
export const RepeatSchema = v.tuple([v.number(), v.number()]);
export type Repeat = v.InferOutput<typeof RepeatSchema>;

/** Where a template's messages go (D30). */
const sendPaths = ['messages', 'marketing_messages'] as const;
export type SendPath = (typeof sendPaths)[number];
export const sendPathSchema = v.picklist(sendPaths);

/** When a send was asked to leave (D56), in the words of its headers. */
export const AskedTimeSchema = v.object({
  send_at: v.exactOptional(v.string()),
  window: v.exactOptional(v.string()),
  days: v.exactOptional(v.string()),
  zone: v.exactOptional(v.string()),
});
export type AskedTime = v.InferOutput<typeof AskedTimeSchema>;

const WhenSchema = v.object({ asked: AskedTimeSchema, fromMs: v.number() });

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
  /** Its recipients are looked for among those who want none before they are called (D55), as acceptance has decided. */
  heedsOptOuts: v.exactOptional(v.literal(true)),
  /** One-time codes: those of a small request go before others of their number (D44). */
  urgent: v.exactOptional(v.literal(true)),
  /** Some of its recipients are addressed by business-scoped user ids: of them receipts may tell a number. */
  byUserId: v.exactOptional(v.literal(true)),
  path: sendPathSchema,
  /** Of its template, in capitals: what the platform limits by category holds these messages alone (D46). */
  category: v.string(),
  templateName: v.string(),
  templateLanguage: v.string(),
  acceptedAtMs: v.number(),
  /** Not handed over by then: the message ends `expired` (D27). */
  expiresAtMs: v.optional(v.number()),
  /** Of a send with a time of its own (D56): what was asked for, as its report tells it, and the first moment at which any of it may leave. */
  when: v.exactOptional(WhenSchema),
  /** Until then all of it is kept; absent: 30 days from its acceptance (items.ts, `forgottenAtMs`). */
  keptUntilMs: v.exactOptional(v.number()),
  /** It is a retry: the job whose recipients it is sent to once more (D57). */
  retryOf: v.exactOptional(v.string()),
  /** What it has reserved of its client's month, in units (D58); absent where the client has no budget. */
  reservedUnits: v.exactOptional(v.number()),
  campaignId: v.optional(v.number()),
  attends: v.optional(v.record(v.string(), v.unknown())),
  total: v.number(),
  correlationId: v.optional(v.string()),
});
export type JobHead = v.InferOutput<typeof JobHeadSchema>;

/** A ULID; clients know it as the dispatch id of their request. */
export const jobIdPattern = /^[0-9A-Z]{26}$/;

/** What the events about a job's messages tell of it (D28, D34). */
export const aboutSchema = v.object({
  did: v.string(),
  template: v.object({ name: v.string(), language: v.string() }),
  campaignId: v.optional(v.number()),
  attends: v.optional(v.record(v.string(), v.unknown())),
});

export type AboutJob = v.InferOutput<typeof aboutSchema>;

/** The request body of one message for the platform, ready to post. */
export const MessageRequestSchema = v.looseObject({ to: v.optional(v.string()), recipient: v.optional(v.string()) });
export type MessageRequest = v.InferOutput<typeof MessageRequestSchema>;

/** What the events about a job's messages tell of it. */
export function aboutJob({ did, templateName, templateLanguage, campaignId, attends }: JobHead): AboutJob {
  return {
    did,
    template: { name: templateName, language: templateLanguage },
    ...present({ campaignId, attends }),
  };
}

/** The id of one message: the same in every chunk, delivery and repeated fan-out of its job. */
export function dispatchIdOf(message: { readonly jobId: string; readonly index: number }): string {
  return `${message.jobId}-${message.index}`;
}
