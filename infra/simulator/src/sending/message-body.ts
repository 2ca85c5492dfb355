import * as v from 'valibot';
import { acceptedTypesText, messagingError } from '../errors.ts';
import { parsedParameters } from '../parameters.ts';

/** Takes a fixed word in any letter case. */
function word<const W extends readonly [string, ...string[]]>(words: W) {
  return v.pipe(v.string(), v.toLowerCase(), v.picklist(words));
}

const text = v.string();
const IndexSchema = v.pipe(
  v.union([v.pipe(v.number(), v.integer(), v.minValue(0)), v.pipe(v.string(), v.regex(/^\d{1,2}$/))]),
  v.transform(Number),
);
const named = { parameter_name: v.optional(text) };
const MediaSchema = v.strictObject({ id: v.optional(text), link: v.optional(text) });
const CoordinateSchema = v.union([v.string(), v.number()]);

const ActionSchema = v.strictObject({
  thumbnail_product_retailer_id: v.optional(text),
  sections: v.optional(
    v.array(
      v.strictObject({
        title: v.optional(text),
        product_items: v.array(v.strictObject({ product_retailer_id: text })),
      }),
    ),
  ),
  flow_token: v.optional(text),
  // Null is refused later, in the check of buttons, with a code of its own.
  flow_action_data: v.nullish(v.looseObject({})),
});

const ParameterSchema = v.variant('type', [
  v.strictObject({ type: v.literal('text'), text: v.optional(text), ...named }),
  v.strictObject({
    type: v.literal('currency'),
    currency: v.strictObject({ fallback_value: text, code: text, amount_1000: v.number() }),
    ...named,
  }),
  v.strictObject({
    type: v.literal('date_time'),
    date_time: v.looseObject({ fallback_value: text }),
    ...named,
  }),
  v.strictObject({ type: v.literal('image'), image: MediaSchema }),
  v.strictObject({ type: v.literal('video'), video: MediaSchema }),
  v.strictObject({ type: v.literal('gif'), gif: MediaSchema }),
  v.strictObject({
    type: v.literal('document'),
    document: v.strictObject({ ...MediaSchema.entries, filename: v.optional(text) }),
  }),
  v.strictObject({
    type: v.literal('location'),
    location: v.strictObject({
      latitude: CoordinateSchema,
      longitude: CoordinateSchema,
      name: v.optional(text),
      address: v.optional(text),
    }),
  }),
  v.strictObject({
    type: v.literal('product'),
    product: v.strictObject({ product_retailer_id: text, catalog_id: text }),
  }),
  v.strictObject({ type: v.literal('payload'), payload: text }),
  v.strictObject({ type: v.literal('coupon_code'), coupon_code: text }),
  v.strictObject({ type: v.literal('action'), action: ActionSchema }),
  v.strictObject({
    type: v.literal('limited_time_offer'),
    limited_time_offer: v.strictObject({ expiration_time_ms: v.number() }),
  }),
]);

/** The platform's refusal lists button kinds in this order (platform reference, 4.2). */
const buttonSubTypes = [
  'booking_confirmation',
  'catalog',
  'copy_code',
  'flow',
  'mpm',
  'order_details',
  'quick_reply',
  'reminder',
  'url',
  'voice_call',
] as const;

const parts = {
  sub_type: v.optional(word(buttonSubTypes)),
  index: v.optional(IndexSchema),
  parameters: v.optional(v.array(ParameterSchema), []),
};
const CardPartSchema = v.strictObject({ type: word(['header', 'body', 'button']), ...parts });
const PartSchema = v.strictObject({
  type: word(['header', 'body', 'button', 'carousel', 'limited_time_offer']),
  ...parts,
  cards: v.optional(v.array(v.strictObject({ card_index: IndexSchema, components: v.array(CardPartSchema) }))),
});

export type SentParameter = v.InferOutput<typeof ParameterSchema>;
export type SentPart = v.InferOutput<typeof PartSchema>;
export type SentCardPart = v.InferOutput<typeof CardPartSchema>;

const otherTypes: readonly unknown[] = [
  'image',
  'video',
  'audio',
  'document',
  'sticker',
  'location',
  'contacts',
  'interactive',
  'reaction',
];
const longestText = 4_096;

const common = {
  messaging_product: v.literal('whatsapp'),
  recipient_type: v.optional(v.literal('individual')),
  to: v.optional(text),
  recipient: v.optional(text),
  recipient_identity_key_hash: v.optional(text),
  context: v.optional(v.strictObject({ message_id: text })),
  type: v.optional(v.picklist(['text', 'template']), 'text'),
  text: v.optional(
    v.strictObject({ body: v.pipe(text, v.maxLength(longestText)), preview_url: v.optional(v.boolean()) }),
  ),
  template: v.optional(
    v.strictObject({
      name: text,
      language: v.optional(
        v.strictObject({ code: text, policy: v.optional(v.literal('deterministic')) }),
        // The default is empty, so that the refusal names the missing `code`.
        {} as { code: string },
      ),
      components: v.optional(v.array(PartSchema), []),
    }),
  ),
  biz_opaque_callback_data: v.optional(v.pipe(text, v.maxLength(512))),
  messaging_account_id: v.optional(text),
  /** `messaging_account_id` is the new name, and wins. */
  paid_messaging_account_id: v.optional(text),
  category: v.optional(word(['utility', 'authentication'])),
  direct_send_config: v.optional(v.strictObject({ template_name: v.optional(text) })),
  ttl_seconds: v.optional(v.pipe(v.number(), v.integer())),
};

const schemas = {
  messages: v.strictObject(common),
  marketing_messages: v.strictObject({
    ...common,
    product_policy: v.optional(v.picklist(['CLOUD_API_FALLBACK', 'STRICT'])),
    message_activity_sharing: v.optional(v.boolean()),
    bid_spec: v.optional(
      v.strictObject({ per_message_bid_multiplier: v.optional(v.pipe(v.number(), v.gtValue(0)), 1) }),
    ),
  }),
};

export type SendEndpoint = keyof typeof schemas;
export type MessageBody = v.InferOutput<(typeof schemas)['messages']>;

/** Parses the body of a send. Refuses message types that are not simulated. */
export function parseMessageBody(endpoint: SendEndpoint, body: unknown): MessageBody {
  const type = typeof body === 'object' && body !== null && 'type' in body ? body.type : undefined;
  if (otherTypes.includes(type)) {
    throw endpoint === 'messages'
      ? messagingError(131051, `${acceptedTypesText}; messages of type ${type} are not simulated`)
      : messagingError(134100, 'type must be template');
  }
  // The other schema only adds keys, so that its output fits this type.
  return parsedParameters(schemas[endpoint] as (typeof schemas)['messages'], body);
}
