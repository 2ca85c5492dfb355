import * as v from 'valibot';
import { parsedParameters } from '../parameters.ts';

/** Takes a fixed word in any letter case, and stores it in capitals. */
function word<const W extends readonly [string, ...string[]]>(words: W) {
  return v.pipe(v.string(), v.toUpperCase(), v.picklist(words));
}

const text = v.optional(v.string());
const NamedExamplesSchema = v.optional(v.array(v.strictObject({ param_name: v.string(), example: v.string() })));

const ButtonSchema = v.strictObject({
  type: word(['QUICK_REPLY', 'URL', 'PHONE_NUMBER', 'COPY_CODE', 'VOICE_CALL', 'FLOW', 'CATALOG', 'MPM', 'SPM', 'OTP']),
  text,
  url: text,
  phone_number: text,
  example: v.optional(v.union([v.string(), v.array(v.string())])),
  flow_id: v.optional(v.union([v.string(), v.number()])),
  flow_name: text,
  flow_json: text,
  flow_action: v.optional(word(['NAVIGATE', 'DATA_EXCHANGE'])),
  navigate_screen: text,
  icon: v.optional(word(['DOCUMENT', 'PROMOTION', 'REVIEW'])),
  otp_type: v.optional(word(['COPY_CODE', 'ONE_TAP', 'ZERO_TAP'])),
  autofill_text: text,
  supported_apps: v.optional(v.array(v.strictObject({ package_name: v.string(), signature_hash: v.string() }))),
  zero_tap_terms_accepted: v.optional(v.boolean()),
});

const plainComponent = {
  type: word(['HEADER', 'BODY', 'FOOTER', 'BUTTONS']),
  format: v.optional(v.pipe(v.string(), v.toUpperCase())),
  text,
  example: v.optional(
    v.strictObject({
      header_text: v.optional(v.array(v.string())),
      header_text_named_params: NamedExamplesSchema,
      header_handle: v.optional(v.array(v.string())),
      body_text: v.optional(v.array(v.array(v.string()))),
      body_text_named_params: NamedExamplesSchema,
    }),
  ),
  buttons: v.optional(v.array(ButtonSchema)),
  add_security_recommendation: v.optional(v.boolean()),
  code_expiration_minutes: v.optional(v.number()),
};
const CardComponentSchema = v.strictObject(plainComponent);
const ComponentSchema = v.strictObject({
  ...plainComponent,
  type: word(['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL', 'LIMITED_TIME_OFFER']),
  limited_time_offer: v.optional(v.strictObject({ text: v.string(), has_expiration: v.optional(v.boolean()) })),
  cards: v.optional(v.array(v.strictObject({ components: v.array(CardComponentSchema) }))),
});

export type GivenButton = v.InferOutput<typeof ButtonSchema>;
export type GivenCardComponent = v.InferOutput<typeof CardComponentSchema>;
export type GivenPart = Omit<GivenCardComponent, 'type'>;
export type GivenComponent = v.InferOutput<typeof ComponentSchema>;

const categories = ['AUTHENTICATION', 'MARKETING', 'UTILITY'] as const;
export type Category = (typeof categories)[number];

const changeable = {
  category: v.optional(word(categories)),
  components: v.optional(v.array(ComponentSchema)),
  parameter_format: v.optional(word(['POSITIONAL', 'NAMED'])),
  message_send_ttl_seconds: v.optional(v.pipe(v.number(), v.integer())),
  optimization_spec: v.optional(
    v.looseObject({
      bid_amount: v.pipe(v.number(), v.integer(), v.minValue(1)),
      bid_strategy: v.picklist(['LOWEST_COST_WITH_BID_CAP']),
    }),
  ),
};

const CreationSchema = v.strictObject({
  ...changeable,
  name: v.string(),
  language: v.string(),
  category: word(categories),
  components: v.array(ComponentSchema),
  parameter_format: v.optional(word(['POSITIONAL', 'NAMED']), 'POSITIONAL'),
  allow_category_change: v.optional(v.boolean()),
  cta_url_link_tracking_opted_out: v.optional(v.boolean()),
  sub_category: v.optional(word(['CUSTOM', 'ORDER_DETAILS', 'ORDER_STATUS', 'RICH_ORDER_STATUS'])),
  display_format: v.optional(word(['ORDER_DETAILS'])),
});
const InputSchema = v.optional(v.boolean());
const LibraryCreationSchema = v.strictObject({
  name: v.string(),
  language: v.string(),
  category: word(categories),
  message_send_ttl_seconds: changeable.message_send_ttl_seconds,
  allow_category_change: v.optional(v.boolean()),
  library_template_name: v.string(),
  library_template_body_inputs: v.optional(
    v.strictObject({
      add_contact_number: InputSchema,
      add_learn_more_link: InputSchema,
      add_security_recommendation: InputSchema,
      add_track_package_link: InputSchema,
      code_expiration_minutes: v.optional(v.number()),
    }),
  ),
  library_template_button_inputs: v.optional(
    v.array(
      v.strictObject({
        type: word(['QUICK_REPLY', 'URL', 'PHONE_NUMBER', 'OTP']),
        url: v.optional(v.strictObject({ base_url: v.string(), url_suffix_example: text })),
        phone_number: text,
        otp_type: ButtonSchema.entries.otp_type,
        supported_apps: ButtonSchema.entries.supported_apps,
        zero_tap_terms_accepted: ButtonSchema.entries.zero_tap_terms_accepted,
      }),
    ),
  ),
});
const UpsertSchema = v.strictObject({
  name: v.string(),
  languages: v.pipe(v.array(v.string()), v.minLength(1)),
  category: word(['AUTHENTICATION']),
  components: v.array(ComponentSchema),
  message_send_ttl_seconds: changeable.message_send_ttl_seconds,
});
const ChangeSchema = v.strictObject(changeable);

/** `library_template_name` is set for a template from the library. */
export type Creation = v.InferOutput<typeof CreationSchema> & { readonly library_template_name?: string };
export type LibraryCreation = v.InferOutput<typeof LibraryCreationSchema>;
export type Upsert = v.InferOutput<typeof UpsertSchema> & Pick<Creation, 'parameter_format'>;
export type Change = v.InferOutput<typeof ChangeSchema>;

/**
 * Parses the body of a creation (2.5). Unknown keys are refused, also `bid_spec`, the old name of `optimization_spec`.
 */
export function parseCreation(body: unknown): Creation {
  return parsedParameters(CreationSchema, body);
}

/** Returns undefined when the creation uses no library template. */
export function parseLibraryCreation(body: unknown): LibraryCreation | undefined {
  const chooses = typeof body === 'object' && body !== null && 'library_template_name' in body;
  return chooses ? parsedParameters(LibraryCreationSchema, body) : undefined;
}

export function parseUpsert(body: unknown): Upsert {
  return { ...parsedParameters(UpsertSchema, body), parameter_format: 'POSITIONAL' };
}

/** Parses the body of an edit (2.6), which cannot change name and language. */
export function parseChange(body: unknown): Change {
  return parsedParameters(ChangeSchema, body);
}
