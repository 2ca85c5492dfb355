import * as v from 'valibot';
import { hashKey } from '../keys/hash-key.ts';
import { PlatformCategory } from '../platform/enums.ts';

/**
 * A template has changed. Each client of the WABA gets its own event; `template_id` is the client's oldest document of
 * it, the `id` of the listing (D12).
 */
const TemplateDataSchema = v.object({
  template_id: v.string(),
  waba_id: v.string(),
  platform_template_id: v.string(),
  name: v.string(),
  language: v.string(),
  /** The status has the platform's spelling, even if unknown (D22). */
  status: v.string(),
  category: PlatformCategory,
});

/** Of status and category, the unchanged one has the same value twice. */
const TemplateStatusChangedSchema = v.object({
  ...TemplateDataSchema.entries,
  previous_status: v.string(),
  previous_category: PlatformCategory,
  /** The platform gave this reason for a rejection, if any. */
  rejected_reason: v.optional(v.string()),
});

/** A synchronization has ended (D22). */
const SyncCompletedSchema = v.object({
  client_id: v.number(),
  sync_id: v.string(),
  created: v.number(),
  updated: v.number(),
  deleted: v.number(),
  unchanged: v.number(),
  /** This many templates exist and cannot be stored by the service. */
  skipped: v.number(),
  /** This many WABAs could not be read or written to the end; the next synchronization repeats them. */
  failed_wabas: v.number(),
  finished_at: v.pipe(v.string(), v.isoTimestamp()),
});

/** A message to one recipient has an outcome (D29, D39). */
const MessageDataSchema = v.object({
  /** The request had this `Dispatch-Id`. */
  dispatch_id: v.string(),
  /** The id is `<dispatch_id>-<index of the recipient>`; the platform knows it too. */
  message_id: v.string(),
  did: v.string(),
  to: v.optional(v.string()),
  /** The person has this business-scoped user id, once the platform has told it. */
  user_id: v.optional(v.string()),
  /** A person who was addressed by user id has a number with these digits, if the platform tells it. */
  wa_id: v.optional(v.string()),
  template: v.object({ name: v.string(), language: v.string() }),
  campaign_id: v.optional(v.number()),
  /** The request gave this (D28). */
  attends: v.optional(v.record(v.string(), v.unknown())),
  /** The code is the platform's as text, or the service's own word such as `expired` or `no_answer`. */
  code: v.optional(v.string()),
  platform_code: v.optional(v.number()),
  /** The platform's text for people says why. */
  reason: v.optional(v.string()),
  /** The platform gave the message this id when it took it. */
  platform_message_id: v.optional(v.string()),
  accepted_at: v.pipe(v.string(), v.isoTimestamp()),
});

/**
 * The price of a message is in the platform's words; receipts of `sent` and of `delivered` or `read` carry it (FACTS
 * 10.2).
 */
export const PricingSchema = v.object({
  billable: v.optional(v.boolean()),
  pricing_model: v.optional(v.string()),
  type: v.optional(v.string()),
  category: v.optional(v.string()),
  /** With `paid_exempt` the platform bills an exempt business nothing. */
  subtype: v.optional(v.string()),
});

/** A receipt of the platform tells the progress of a message. */
const ReceiptDataSchema = v.object({ ...MessageDataSchema.entries, pricing: v.optional(PricingSchema) });

/** A person answers by writing, by a tap, or by a form (platform reference, 10.5). */
export const replyForms = ['text', 'quick_reply', 'button', 'list', 'flow'] as const;

/** A person has answered. Message and dispatch are absent if neither tap nor index names them (D55). */
const MessageRepliedSchema = v.object({
  dispatch_id: v.optional(MessageDataSchema.entries.dispatch_id),
  message_id: v.optional(MessageDataSchema.entries.message_id),
  did: v.string(),
  /** The person's number has these digits, if the platform tells it. The request may have spelled it differently. */
  from: v.optional(v.string()),
  user_id: v.optional(v.string()),
  template: v.optional(MessageDataSchema.entries.template),
  campaign_id: v.optional(v.number()),
  attends: v.optional(v.record(v.string(), v.unknown())),
  by: v.picklist(replyForms),
  /** The text has the first 1,000 characters, and is absent without a label. */
  text: v.optional(v.string()),
  /** The person pressed this quick reply, counted in the template or on that carousel card. */
  button_index: v.optional(v.number()),
  card_index: v.optional(v.number()),
  platform_message_id: v.optional(v.string()),
  replied_at: v.pipe(v.string(), v.isoTimestamp()),
});

/** All events about a dispatch share this part. */
const DispatchDataSchema = v.omit(MessageDataSchema, [
  ...(['message_id', 'to', 'user_id', 'wa_id', 'code', 'platform_code', 'reason', 'platform_message_id'] as const),
]);

const time = v.pipe(v.string(), v.isoTimestamp());

/** These scopes can hold a dispatch (D46). A hold of a WABA or a number may be for one category only. */
export const parkedScopes = ['template', 'number', 'waba', 'platform'] as const;

const DispatchPauseSchema = v.object({
  ...DispatchDataSchema.entries,
  scope: v.picklist(parkedScopes),
  /**
   * The code is that of the report: `template_in_review`, `template_paused`, `no_answer`, else the platform's error
   * code as text.
   */
  code: v.string(),
  parked_at: time,
});

/** The rest of the dispatch waits for a hold to end (D46). */
const DispatchParkedSchema = v.object({
  ...DispatchPauseSchema.entries,
  /** The waiting messages expire then. */
  expires_at: time,
});

/** No message of the dispatch is pending any more (D41). */
const DispatchCompletedSchema = v.object({
  ...DispatchDataSchema.entries,
  /** The total counts recipients of the request with dropped duplicates, and is the sum of the counts. */
  total: v.number(),
  /** The counts are the report's at this moment (D40); later receipts may change them. */
  counts: v.object({
    pending: v.literal(0),
    held: v.number(),
    sent: v.number(),
    delivered: v.number(),
    read: v.number(),
    failed: v.number(),
    expired: v.number(),
    unknown: v.number(),
  }),
});

/** The platform has said something about an account (D41): the whole WABA, or its UTILITY templates and messages. */
const AccountDataSchema = v.object({
  waba_id: v.string(),
  scope: v.picklist(['waba', 'utility']),
  platform_word: v.string(),
  /** The hold on messages has this code (D46); absent when templates may be sent. */
  code: v.optional(v.string()),
});

/** The platform has restricted an account, or will. */
const AccountRestrictedSchema = v.object({
  ...AccountDataSchema.entries,
  /** The restriction ends then, if the platform tells it. */
  until: v.optional(time),
  /** The platform advises people with this text. */
  remediation: v.optional(v.string()),
});

/** A person refuses marketing, or allows it again (D55), within `scope`; person, platform or client said so. */
const OptOutDataSchema = v.object({
  /** The recipient is spelled as in `GET /v1/opt-outs`: the digits of a number, or a business-scoped user id. */
  recipient: v.string(),
  /** The person has this user id, if `recipient` is a number and the platform has told it. */
  user_id: v.optional(v.string()),
  /** The person's number has these digits, if `recipient` is a user id and the platform has told it. */
  wa_id: v.optional(v.string()),
  /** The person wrote to this number, or the platform names it. */
  did: v.optional(v.string()),
  /** The opt-out reaches one client, all senders of the number, or all senders of its WABA. */
  scope: v.picklist(['client', 'number', 'waba']),
  /** The opt-out comes from the platform's setting, its refusal 131050, the person's word or button, or the API. */
  source: v.picklist(['platform', 'refused', 'reply', 'quick_reply', 'api']),
  at: time,
  /** The person has answered this dispatch, if known. */
  dispatch_id: v.optional(v.string()),
  message_id: v.optional(v.string()),
});

const MoneySchema = v.object({ amount: v.number(), currency: v.string() });

/** A client's monthly budget is spent, or reserved for messages under way, to this percentage (D58). */
const BudgetReachedSchema = v.object({
  /** The month is in UTC: `2026-11`. */
  month: v.pipe(v.string(), v.regex(/^\d{4}-\d{2}$/)),
  percent: v.picklist([80, 100]),
  budget: MoneySchema,
  /** The amount is at list prices. */
  committed: MoneySchema,
  /** True says that sends above the budget are refused, except one-time codes. */
  stop: v.boolean(),
});

/** The client's own receiver has only failed for a while (D34); told once it answers again, or elsewhere. */
const WebhookFailingSchema = v.object({
  /** The first failure of this run of failures came then. */
  since: time,
});

const idPattern = /^evt_[a-z2-7]{26}$/;

function kind<const Type extends string, Data extends v.GenericSchema>(type: Type, data: Data) {
  return v.object({
    /** Every post of the event has this `webhook-id`. */
    id: v.pipe(v.string(), v.regex(idPattern)),
    clientId: v.number(),
    type: v.literal(type),
    timestampMs: v.number(),
    /** Log lines of the delivery carry the request's id; receivers do not get it. */
    correlationId: v.optional(v.string()),
    data,
  });
}

/** Queued events carry this version of their format (D47). */
export const eventMessageVersion = 1;

/** An event is for one client (D34). The kinds are a public interface. */
export const ServiceEventSchema = v.variant('type', [
  kind('template.created', TemplateDataSchema),
  kind('template.status_changed', TemplateStatusChangedSchema),
  kind('template.deleted', TemplateDataSchema),
  kind('sync.completed', SyncCompletedSchema),
  kind('message.failed', MessageDataSchema),
  kind('message.expired', MessageDataSchema),
  /** The outcome is unknown, and the service never retries the message by itself. */
  kind('message.unknown', MessageDataSchema),
  /** The platform took the message and holds it back; `code` is its reason. */
  kind('message.held', MessageDataSchema),
  kind('message.sent', ReceiptDataSchema),
  kind('message.delivered', ReceiptDataSchema),
  kind('message.read', ReceiptDataSchema),
  /** A receipt proved that the platform took a message that was `unknown`. */
  kind('message.resolved', MessageDataSchema),
  kind('message.replied', MessageRepliedSchema),
  kind('dispatch.parked', DispatchParkedSchema),
  /** The messages that waited since `parked_at` go on (D46). */
  kind('dispatch.resumed', DispatchPauseSchema),
  kind('dispatch.completed', DispatchCompletedSchema),
  kind('account.restricted', AccountRestrictedSchema),
  /** The platform has lifted a restriction; one whose time passes ends without this event. */
  kind('account.restored', AccountDataSchema),
  kind('recipient.opted_out', OptOutDataSchema),
  kind('recipient.opted_in', OptOutDataSchema),
  kind('budget.reached', BudgetReachedSchema),
  kind('webhook.failing', WebhookFailingSchema),
]);
export type ServiceEvent = v.InferOutput<typeof ServiceEventSchema>;
export type EventType = ServiceEvent['type'];
export const eventTypes: readonly string[] = ServiceEventSchema.options.map(({ entries }) => entries.type.literal);

/** Names a kind of event in the interface's document (D48). */
export const EventTypeWord = v.picklist(eventTypes);

export function isEventType(type: string): type is EventType {
  return eventTypes.includes(type);
}

export type TemplateData = v.InferOutput<typeof TemplateDataSchema>;
export type MessageData = v.InferOutput<typeof MessageDataSchema>;
export type DispatchData = v.InferOutput<typeof DispatchDataSchema>;
export type DispatchCompletedData = v.InferOutput<typeof DispatchCompletedSchema>;
export type ReceiptData = v.InferOutput<typeof ReceiptDataSchema>;
export type OptOutData = v.InferOutput<typeof OptOutDataSchema>;
export type MessageRepliedData = v.InferOutput<typeof MessageRepliedSchema>;

/**
 * Returns `evt_` and 26 characters (130 bits), computed from kind, receiver and identifying facts. A retry after a
 * crash has the same id, so receivers can deduplicate.
 */
export function eventId(type: EventType, clientId: number, facts: readonly (string | number)[]): string {
  return `evt_${hashKey([type, clientId, ...facts], 26)}`;
}

export type SubscribedTypes = (clientId: number) => Promise<ReadonlySet<EventType>>;

/**
 * A client that has not chosen gets these: about one message in a thousand, without each step of a message and without
 * replies (D41).
 */
export const defaultEventTypes: ReadonlySet<EventType> = new Set(
  ServiceEventSchema.options
    .map(({ entries }) => entries.type.literal)
    .filter((type) => !['message.sent', 'message.delivered', 'message.read', 'message.replied'].includes(type)),
);

export interface EventSink {
  /** Queues all events; throws when one may be missing. Retries are safe, because ids are idempotent. */
  send(events: readonly ServiceEvent[]): Promise<void>;
}
