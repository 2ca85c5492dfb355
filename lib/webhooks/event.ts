import * as v from 'valibot';
import { hashKey } from '../keys/hash-key.ts';
import { ToldCategory } from '../platform/words.ts';

/**
 * What happened to a template. Each client of the WABA gets an event of its own, and `template_id` is its own: the oldest
 * document of the template, the `id` of the listing (D12).
 */
const TemplateDataSchema = v.object({
  template_id: v.string(),
  waba_id: v.string(),
  platform_template_id: v.string(),
  name: v.string(),
  language: v.string(),
  /** As the platform spells it, also when unknown (D22). */
  status: v.string(),
  category: ToldCategory,
});

/** Status or category, or both, are not what they were; of the one that has not changed both values are the same. */
const TemplateStatusChangedSchema = v.object({
  ...TemplateDataSchema.entries,
  previous_status: v.string(),
  previous_category: ToldCategory,
  /** Why the platform rejected it, when it says so. */
  rejected_reason: v.optional(v.string()),
});

/** A synchronization has come to its end (D22): how many templates it found new, changed, gone and as they were. */
const SyncCompletedSchema = v.object({
  client_id: v.number(),
  sync_id: v.string(),
  created: v.number(),
  updated: v.number(),
  deleted: v.number(),
  unchanged: v.number(),
  /** Templates that are there and that the service cannot hold. */
  skipped: v.number(),
  /** WABAs that could not be read or written to the end; the next synchronization reads them again. */
  failed_wabas: v.number(),
  finished_at: v.pipe(v.string(), v.isoTimestamp()),
});

/** What became of a message to one recipient (D29, D39). */
const MessageDataSchema = v.object({
  /** The answer's `Dispatch-Id` of the request that it belongs to. */
  job_id: v.string(),
  /** `<job_id>-<index of the recipient>`; the platform knows the message by it too. */
  message_id: v.string(),
  did: v.string(),
  to: v.optional(v.string()),
  /** The person's business-scoped user id, once the platform has told it. */
  user_id: v.optional(v.string()),
  /** The digits of the number of a person who was addressed by user id, where the platform tells it. */
  wa_id: v.optional(v.string()),
  template: v.object({ name: v.string(), language: v.string() }),
  campaign_id: v.optional(v.number()),
  /** As the request gave it (D28). */
  attends: v.optional(v.record(v.string(), v.unknown())),
  /** The platform's error code as text, or a word of the service such as `expired` or `no_answer`. */
  code: v.optional(v.string()),
  /** The platform's error code, when it gave one. */
  platform_code: v.optional(v.number()),
  /** The platform's text for people. */
  reason: v.optional(v.string()),
  /** What the platform calls the message, once it took it. */
  platform_message_id: v.optional(v.string()),
  accepted_at: v.pipe(v.string(), v.isoTimestamp()),
});

/** What a message cost, in the platform's own words; a receipt of `sent` and one of `delivered` or `read` carry it (FACTS 10.3). */
export const PricingSchema = v.object({
  billable: v.exactOptional(v.boolean()),
  pricing_model: v.exactOptional(v.string()),
  type: v.exactOptional(v.string()),
  category: v.exactOptional(v.string()),
  /** `paid_exempt`: of a business that is exempt, nothing is billed. */
  subtype: v.exactOptional(v.string()),
});

/** How far a message got, by a receipt of the platform. */
const ReceiptDataSchema = v.object({ ...MessageDataSchema.entries, pricing: v.exactOptional(PricingSchema) });

/** How a person answered: by writing, by a tap, or by a form (platform reference, 10.5). */
export const replyForms = ['text', 'quick_reply', 'button', 'list', 'flow'] as const;

/** What a person answered. The message that is answered, and its dispatch, are left out where neither tap nor index tells (D55). */
const MessageRepliedSchema = v.object({
  job_id: v.exactOptional(MessageDataSchema.entries.job_id),
  message_id: v.exactOptional(MessageDataSchema.entries.message_id),
  did: v.string(),
  /** The digits of the person's number, where the platform tells it; it may be spelled otherwise than the request did. */
  from: v.exactOptional(v.string()),
  user_id: v.exactOptional(v.string()),
  template: v.exactOptional(MessageDataSchema.entries.template),
  campaign_id: v.exactOptional(v.number()),
  attends: v.exactOptional(v.record(v.string(), v.unknown())),
  by: v.picklist(replyForms),
  /** The label that was pressed, the text or the answers of the form, its first 1,000 characters; missing where the platform tells no label. */
  text: v.exactOptional(v.string()),
  /** Which quick reply was pressed, by its place in the template, or on that card of its carousel. */
  button_index: v.exactOptional(v.number()),
  card_index: v.exactOptional(v.number()),
  /** What the platform calls the reply. */
  platform_message_id: v.exactOptional(v.string()),
  replied_at: v.pipe(v.string(), v.isoTimestamp()),
});

/** What every event about a whole dispatch says of it. */
const DispatchDataSchema = v.omit(MessageDataSchema, [
  ...(['message_id', 'to', 'user_id', 'wa_id', 'code', 'platform_code', 'reason', 'platform_message_id'] as const),
]);

const time = v.pipe(v.string(), v.isoTimestamp());

/** What a dispatch waits for (D46): what is held of its WABA or its number may be the messages of one category alone. */
export const parkedScopes = ['template', 'number', 'waba', 'platform'] as const;

/** A pause of a dispatch, by what is held and since when. */
const DispatchPauseSchema = v.object({
  ...DispatchDataSchema.entries,
  scope: v.picklist(parkedScopes),
  /** As the report has it: `template_paused`, `no_answer`, else the platform's error code as text. */
  code: v.string(),
  parked_at: time,
});

/** Nothing leaves for what the dispatch needs: what is left of it waits (D46). */
const DispatchParkedSchema = v.object({
  ...DispatchPauseSchema.entries,
  /** When what still waits expires. */
  expires_at: time,
});

/** Nothing of a dispatch is pending any more (D41). */
const DispatchCompletedSchema = v.object({
  ...DispatchDataSchema.entries,
  /** Recipients of the request, dropped duplicates too: the sum of the counts. */
  total: v.number(),
  /** What became of them, as the report says at this moment (D40); receipts may carry them further. */
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

/** What the platform has said of an account (D41): the whole WABA, or its UTILITY templates and messages. */
const AccountDataSchema = v.object({
  waba_id: v.string(),
  scope: v.picklist(['waba', 'utility']),
  /** The platform's own word for it. */
  platform_word: v.string(),
  /** The code with which messages are held, or were (D46); missing where templates may be sent. */
  code: v.exactOptional(v.string()),
});

/** The platform has restricted an account, or will. */
const AccountRestrictedSchema = v.object({
  ...AccountDataSchema.entries,
  /** The end, when the platform tells it. */
  until: v.exactOptional(time),
  /** The platform's text for people: what to do. */
  remediation: v.exactOptional(v.string()),
});

/** A person wants no marketing any more, or wants it again (D55): within `scope`, as the person, the platform or the client has said. */
const OptOutDataSchema = v.object({
  /** As `GET /v1/opt-outs` lists the person: the digits of a number, or a business-scoped user id. */
  recipient: v.string(),
  /** The person's user id, where `recipient` is a number and the platform has told it. */
  user_id: v.exactOptional(v.string()),
  /** The digits of the person's number, where `recipient` is a user id and the platform has told it. */
  wa_id: v.exactOptional(v.string()),
  /** The number that the person wrote to, or that the platform's word names. */
  did: v.exactOptional(v.string()),
  /** For whom it counts: the client, all who send from the number, or all who send from its WABA. */
  scope: v.picklist(['client', 'number', 'waba']),
  /** From where the word comes: the platform's setting, its refusal 131050, a word or a button of the person, the API. */
  source: v.picklist(['platform', 'refused', 'reply', 'quick_reply', 'api']),
  at: time,
  /** The dispatch that the person has answered, where that is known. */
  job_id: v.exactOptional(v.string()),
  message_id: v.exactOptional(v.string()),
});

const idPattern = /^evt_[a-z2-7]{26}$/;

function kind<const Type extends string, Data extends v.GenericSchema>(type: Type, data: Data) {
  return v.object({
    /** The `webhook-id`: the same for the same event, however often it is emitted. */
    id: v.pipe(v.string(), v.regex(idPattern)),
    /** Who receives it. */
    clientId: v.number(),
    type: v.literal(type),
    timestampMs: v.number(),
    /** Of the request behind it, for the log lines of its delivery; receivers are not told. */
    correlationId: v.optional(v.string()),
    data,
  });
}

/** The format in which events and wakes are queued now (D47). */
export const eventMessageVersion = 1;

/** An event for one client, as it waits for delivery (D34). The kinds are a public interface. */
export const ServiceEventSchema = v.variant('type', [
  kind('template.created', TemplateDataSchema),
  kind('template.status_changed', TemplateStatusChangedSchema),
  kind('template.deleted', TemplateDataSchema),
  kind('sync.completed', SyncCompletedSchema),
  kind('message.failed', MessageDataSchema),
  kind('message.expired', MessageDataSchema),
  /** Nobody can say whether the message was sent; it is never sent again by itself. */
  kind('message.unknown', MessageDataSchema),
  /** The platform took the message and holds it back: `code` is its word for that. */
  kind('message.held', MessageDataSchema),
  kind('message.sent', ReceiptDataSchema),
  kind('message.delivered', ReceiptDataSchema),
  kind('message.read', ReceiptDataSchema),
  /** A receipt proved that the platform took a message that was `unknown`. */
  kind('message.resolved', MessageDataSchema),
  kind('message.replied', MessageRepliedSchema),
  kind('dispatch.parked', DispatchParkedSchema),
  /** What waited since `parked_at` goes on (D46). */
  kind('dispatch.resumed', DispatchPauseSchema),
  kind('dispatch.completed', DispatchCompletedSchema),
  kind('account.restricted', AccountRestrictedSchema),
  /** A restriction is over, by the platform's word; one whose time has passed ends without. */
  kind('account.restored', AccountDataSchema),
  kind('recipient.opted_out', OptOutDataSchema),
  kind('recipient.opted_in', OptOutDataSchema),
]);
export type ServiceEvent = v.InferOutput<typeof ServiceEventSchema>;
export type EventType = ServiceEvent['type'];
export const eventTypes: readonly string[] = ServiceEventSchema.options.map(({ entries }) => entries.type.literal);

/** A kind of event, as the interface's document tells it (D48). */
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
 * The id of an event: `evt_` and 26 characters (130 bits) computed from its kind, its receiver and the facts that make it
 * unlike any other. An emission that is repeated after a crash carries the same id, and receivers tell by it.
 */
export function eventId(type: EventType, clientId: number, facts: readonly (string | number)[]): string {
  return `evt_${hashKey([type, clientId, ...facts], 26)}`;
}

/** Which kinds of event a client wants to be told. */
export type WantedEvents = (clientId: number) => Promise<ReadonlySet<EventType>>;

/** What is told to a client that has not chosen: one message in a thousand, and neither every step of each nor what people answer (D41). */
export const defaultEventTypes: ReadonlySet<EventType> = new Set(
  ServiceEventSchema.options
    .map(({ entries }) => entries.type.literal)
    .filter((type) => !['message.sent', 'message.delivered', 'message.read', 'message.replied'].includes(type)),
);

/** Where events go. */
export interface EventSink {
  /** Queues all events; throws when one of them may not be queued. Repeating is harmless: ids tell. */
  send(events: readonly ServiceEvent[]): Promise<void>;
}
