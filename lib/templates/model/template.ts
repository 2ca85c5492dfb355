import * as v from 'valibot';
import type { SentOtpSettings } from './sent-otp-settings.ts';

/**
 * Fields that the service reads are typed; unknown fields of a template stay, because the platform adds fields without
 * notice and an edit compares them.
 */
const ButtonSchema = v.looseObject({
  type: v.string(),
  text: v.optional(v.string()),
  url: v.optional(v.string()),
  otp_type: v.optional(v.string()),
});

const BaseComponentSchema = v.looseObject({
  type: v.string(),
  format: v.optional(v.nullable(v.string())),
  text: v.optional(v.nullable(v.string())),
  example: v.optional(v.looseObject({})),
  buttons: v.optional(v.nullable(v.array(ButtonSchema))),
});

const CardSchema = v.looseObject({ components: v.array(BaseComponentSchema) });

const ComponentSchema = v.looseObject({
  ...BaseComponentSchema.entries,
  cards: v.optional(v.array(CardSchema)),
  limited_time_offer: v.optional(v.looseObject({ has_expiration: v.optional(v.boolean()) })),
});

export const PlatformTemplateSchema = v.looseObject({
  id: v.string(),
  name: v.string(),
  language: v.string(),
  /** A status is kept as it is, even if unknown (D22). */
  status: v.string(),
  category: v.string(),
  components: v.array(ComponentSchema),
  parameter_format: v.optional(v.string()),
  previous_category: v.optional(v.string()),
  rejected_reason: v.optional(v.string()),
  quality_score: v.optional(v.looseObject({ score: v.optional(v.string()) })),
  message_send_ttl_seconds: v.optional(v.number()),
  optimization_spec: v.optional(v.looseObject({})),
  /** The author is MANUAL, or AUTO_GENERATED (`isDirectMessage`). */
  source: v.optional(v.string()),
});

export type PlatformTemplate = v.InferOutput<typeof PlatformTemplateSchema>;
export type TemplateComponent = v.InferOutput<typeof ComponentSchema>;
export type TemplateButton = v.InferOutput<typeof ButtonSchema>;

/** A client's assignment is the document of a (channel, campaign) pair, or the placeholder (D12). */
export interface TemplateDocument {
  readonly id: string;
  /** The 'Unassigned' placeholder has none. */
  readonly pair?: { readonly channelId: number; readonly campaignId: number };
}

/** A client has its own part of a template, beside the platform's facts. */
export interface ClientTemplate {
  readonly clientId: number;
  readonly active: boolean;
  /** The documents are oldest first, never empty. */
  readonly documents: readonly TemplateDocument[];
}

/** The platform's facts of one template are as last read. */
export interface StoredFact {
  readonly wabaId: string;
  readonly template: PlatformTemplate;
  readonly deleted: boolean;
  /** The time is 0 for a template that was sent to the platform (created, edited) and not read since. */
  readonly readAtMs: number;
  /** This status and category were first stored then. Events use it to identify a change. */
  readonly sinceMs: number;
  /** Until then the platform holds the name of the deleted template (D18). */
  readonly nameHeldUntilMs?: number;
  /** No reading shows these last sent settings (D20). */
  readonly sentCode?: SentOtpSettings;
}

export interface TemplateForSending {
  readonly fact: StoredFact;
  /** The client's part is absent when the template was never synchronized for this client. */
  readonly client?: ClientTemplate;
}

/** Returns why the platform rejected a template, or undefined for `NONE` or an empty text. */
export function rejectionReason({
  rejected_reason: reason,
}: Pick<PlatformTemplate, 'rejected_reason'>): string | undefined {
  return reason === '' || reason === 'NONE' ? undefined : reason;
}

/**
 * Tells whether the platform generated it for messages without a template (Direct Send; platform reference, 2.3). Such
 * a template is not listed, announced, sent, edited or deleted.
 */
export function isDirectMessage({ source }: Pick<PlatformTemplate, 'source'>): boolean {
  return source?.toUpperCase() === 'AUTO_GENERATED';
}

/** Makes one key for all spellings of a language: `pt-br`, `pt_BR` and `PT_br` (D26). */
export function languageKey(language: string): string {
  return language.replaceAll('-', '_').toLowerCase();
}

export interface TemplateOfClient {
  readonly clientId: number;
  readonly wabaId: string;
  readonly name: string;
  readonly language: string;
}

export interface TemplatesForSending {
  /**
   * Makes one DynamoDB request (a BatchGetItem); returns undefined when no fact of that (WABA, name, language) is
   * stored.
   */
  find(wanted: TemplateOfClient): Promise<TemplateForSending | undefined>;
  /** Stores a reading of the platform in the fact and in every client's row. */
  refresh(
    wanted: {
      readonly wabaId: string;
      readonly clientIds: readonly number[];
      /** A reading with the stored status and category keeps their time. */
      readonly unchangedSinceMs?: number | undefined;
    },
    template: PlatformTemplate,
    readAtMs: number,
  ): Promise<void>;
}
