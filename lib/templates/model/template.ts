import * as v from 'valibot';
import type { SentCode } from './sent-code.ts';

/**
 * A template as the platform returns it. Fields that the service reads are typed; everything else is carried as it came
 * (the platform adds fields without notice, and an edit compares against them).
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
  /** Kept as it is, also when unknown (D22). */
  status: v.string(),
  category: v.string(),
  components: v.array(ComponentSchema),
  parameter_format: v.optional(v.string()),
  previous_category: v.optional(v.string()),
  rejected_reason: v.optional(v.string()),
  quality_score: v.optional(v.looseObject({ score: v.optional(v.string()) })),
  message_send_ttl_seconds: v.optional(v.number()),
  optimization_spec: v.optional(v.looseObject({})),
  /** Who made it: MANUAL, or AUTO_GENERATED (`isDirectMessage`). */
  source: v.optional(v.string()),
});

export type PlatformTemplate = v.InferOutput<typeof PlatformTemplateSchema>;
export type TemplateComponent = v.InferOutput<typeof ComponentSchema>;
export type TemplateButton = v.InferOutput<typeof ButtonSchema>;

/** One assignment of one client: the stored document of a (channel, campaign) pair, or the placeholder (D12). */
export interface TemplateDocument {
  readonly id: string;
  /** Absent on the 'Unassigned' placeholder. */
  readonly pair?: { readonly channelId: number; readonly campaignId: number };
}

/** What one client knows of a template of a WABA beside the platform's own facts. */
export interface ClientTemplate {
  readonly clientId: number;
  readonly active: boolean;
  /** Oldest first; never empty. */
  readonly documents: readonly TemplateDocument[];
}

/** The platform's facts of one template as last read, and when that was. */
export interface StoredFact {
  readonly wabaId: string;
  readonly template: PlatformTemplate;
  readonly deleted: boolean;
  /** 0 for what was sent to the platform (created, edited) and not read from it since. */
  readonly readAtMs: number;
  /** Which status and category these are: the time since when they are stored. Whoever sees them change names the change by it. */
  readonly sinceMs: number;
  /** Until then the platform keeps the name of the deleted template (D18). */
  readonly nameHeldUntilMs?: number;
  /** What was last sent from here and no reading shows (D20). */
  readonly sentCode?: SentCode;
}

/** What a send needs to know about one template. */
export interface TemplateForSending {
  readonly fact: StoredFact;
  /** Absent when the client has no document of it yet (the template was never synchronized for this client). */
  readonly client?: ClientTemplate;
}

/** Why the platform rejected a template; undefined when it did not: it writes `NONE`, or nothing, where there is no reason. */
export function rejectionReason({
  rejected_reason: reason,
}: Pick<PlatformTemplate, 'rejected_reason'>): string | undefined {
  return reason === '' || reason === 'NONE' ? undefined : reason;
}

/**
 * Whether the platform has generated it for messages that were sent without a template (Direct Send; platform reference, 2.3).
 * Such a template is in no listing and no event, and is not sent, edited or deleted from here.
 */
export function isDirectMessage({ source }: Pick<PlatformTemplate, 'source'>): boolean {
  return source?.toUpperCase() === 'AUTO_GENERATED';
}

/** The language key under which spellings meet: `pt-br`, `pt_BR` and `PT_br` are one language (D26). */
export function languageKey(language: string): string {
  return language.replaceAll('-', '_').toLowerCase();
}

/** The template store as the send path sees it. */
export interface TemplatesForSending {
  /** One DynamoDB request (a BatchGetItem); undefined when no fact of that (WABA, name, language) is stored. */
  find(wanted: {
    readonly clientId: number;
    readonly wabaId: string;
    readonly name: string;
    readonly language: string;
  }): Promise<TemplateForSending | undefined>;
  /** Stores what was just read from the platform: creates the fact, or refreshes it on the documents of every client. */
  refresh(
    wanted: {
      readonly wabaId: string;
      readonly clientIds: readonly number[];
      /** Given when status and category are as stored: then they are still those of that time. */
      readonly unchangedSinceMs?: number | undefined;
    },
    template: PlatformTemplate,
    readAtMs: number,
  ): Promise<void>;
}
