import * as v from 'valibot';

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

export const mediaHeaderTypes = ['image_url', 'video_url', 'document_url'] as const;

export const HeaderInputSchema = v.variant('type', [
  v.object({
    type: v.picklist(mediaHeaderTypes),
    value: v.string(),
    filename: v.optional(v.string()),
  }),
  v.object({
    type: v.literal('location'),
    location: v.object({ latitude: v.string(), longitude: v.string(), name: v.string(), address: v.string() }),
  }),
]);

export type Recipient = v.InferOutput<typeof RecipientSchema>;

/** Address and parameters are absent once the operator has erased the person (D60). */
export const StoredRecipientSchema = v.object({ ...RecipientSchema.entries, to: v.optional(v.string()) });
export type StoredRecipient = v.InferOutput<typeof StoredRecipientSchema>;
export type HeaderInput = v.InferOutput<typeof HeaderInputSchema>;

/**
 * A dropped recipient (D25) has its place in the request, the place of the earlier one that it repeats, and its
 * spelling, if another (canonical-number.ts). A number would have to be erased (D60).
 */
export const RepeatSchema = v.union([
  v.strictTuple([v.number(), v.number()]),
  v.strictTuple([v.number(), v.number(), v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(3))]),
]);
export type Repeat = v.InferOutput<typeof RepeatSchema>;

/** A template's messages go to one of these endpoints (D30). */
export const sendPathSchema = v.picklist(['messages', 'marketing_messages']);

/** The requested time has the spelling of the headers (D56). */
export const RequestedTimeSchema = v.object({
  send_at: v.optional(v.string()),
  window: v.optional(v.string()),
  days: v.optional(v.string()),
  zone: v.optional(v.string()),
});

/** No message may leave before `fromMs`. */
export const WhenSchema = v.object({ asked: RequestedTimeSchema, fromMs: v.number() });

export const DispatchHeadSchema = v.object({
  dispatchId: v.string(),
  clientId: v.number(),
  did: v.string(),
  wabaId: v.string(),
  phoneNumberId: v.string(),
  credential: v.string(),
  throughputPerSecond: v.number(),
  /** A platform app reports receipts for this number (D38). */
  receiptsExpected: v.optional(v.literal(true)),
  /** Acceptance has decided that opt-outs apply: the worker looks them up before it calls (D55). */
  heedsOptOuts: v.optional(v.literal(true)),
  /** One-time codes of a small request go before other messages of the number (D44). */
  urgent: v.optional(v.literal(true)),
  /** Some recipients are addressed by business-scoped user ids; receipts may reveal their numbers. */
  byUserId: v.optional(v.literal(true)),
  path: sendPathSchema,
  /** The category is in capitals: category limits of the platform hold these messages alone (D46). */
  category: v.string(),
  templateName: v.string(),
  templateLanguage: v.string(),
  acceptedAtMs: v.number(),
  /** A message that is not handed over by then ends `expired` (D27). */
  expiresAtMs: v.optional(v.number()),
  /** A scheduled send has the requested time for the report, and the earliest moment of any call (D56). */
  when: v.optional(WhenSchema),
  /** The dispatch's items may go then, by default 30 days after acceptance (items.ts, `forgottenAtMs`). */
  keptUntilMs: v.optional(v.number()),
  /** This dispatch retries that one (D57). */
  retryOf: v.optional(v.string()),
  /** `Max-Cost` of the request in units (D58): a release judges it again (D56). */
  maxCostUnits: v.optional(v.number()),
  campaignId: v.optional(v.number()),
  attends: v.optional(v.record(v.string(), v.unknown())),
  total: v.number(),
  correlationId: v.optional(v.string()),
});
export type DispatchHead = v.InferOutput<typeof DispatchHeadSchema>;

/** Clients know this ULID as the dispatch id of their request. */
export const dispatchIdPattern = /^[0-9A-Z]{26}$/;

/** A dispatch's events carry these facts (D28, D34). */
export const aboutSchema = v.object({
  did: v.string(),
  template: v.object({ name: v.string(), language: v.string() }),
  campaignId: v.optional(v.number()),
  attends: v.optional(v.record(v.string(), v.unknown())),
});

/** The request is ready to post to the platform. */
export const MessageRequestSchema = v.looseObject({ to: v.optional(v.string()), recipient: v.optional(v.string()) });
export type MessageRequest = v.InferOutput<typeof MessageRequestSchema>;

export function aboutDispatch({
  did,
  templateName,
  templateLanguage,
  campaignId,
  attends,
}: DispatchHead): v.InferOutput<typeof aboutSchema> {
  return {
    did,
    template: { name: templateName, language: templateLanguage },
    campaignId,
    attends,
  };
}

/** A message is the recipient at this index of its dispatch. */
export interface MessageKey {
  readonly dispatchId: string;
  readonly index: number;
}

/** Returns the id of one message: the same in every try, delivery and run. */
export function messageIdOf(message: MessageKey): string {
  return `${message.dispatchId}-${message.index}`;
}
