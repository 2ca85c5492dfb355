import type { Delivery } from '../src/webhooks/delivery.ts';
import type { Component, Part } from './phone-view.ts';

/* The simulator answers control calls with these types. The modules of the routes explain the fields. */

export interface StatusView {
  readonly status: string;
  readonly at_ms: number;
  readonly code?: number;
}

export interface InboxRow {
  readonly place: number;
  readonly id: string;
  readonly to: string;
  readonly number: string;
  readonly template: string;
  readonly language: string;
  readonly category: string;
  readonly preview: string;
  readonly dispatch: string;
  readonly received_ms: number;
  readonly told: readonly StatusView[];
  readonly replies: number;
  /** The platform delivers nothing before this time; null while pacing has not decided. */
  readonly held_until_ms?: number | null;
  /** Its code is null when a page came instead of an answer. */
  readonly refusal?: RefusalView & { readonly kind: DroppedRows['kind'] };
}

export interface RefusalView {
  readonly code: number | null;
  readonly http_status: number;
}

export interface DroppedRows {
  readonly kind: 'throttled' | 'other';
  readonly count: number;
  readonly since_ms: number;
  readonly since_place: number;
}

/** A hold refuses messages; the control call ends it. */
export interface HoldBehind {
  /** The node is `WABA`, `number` or `business`. */
  readonly of: string;
  readonly id: string;
  readonly code: number;
  readonly remove: string;
}

export interface SendDetail {
  readonly row: InboxRow;
  readonly path: string;
  readonly request: unknown;
  /** The id is empty for a text and for an unknown template. */
  readonly template_id: string;
  readonly from: string;
  readonly from_name: string;
  readonly callback_data: string | null;
  /** The dispatch is null without a mark of the service. */
  readonly dispatch: { readonly did: string; readonly id: string } | null;
  /** The list has all sends with the same mark, oldest first. */
  readonly tries: readonly { readonly id: string; readonly at_ms: number; readonly refusal?: RefusalView }[];
  readonly holds: readonly HoldBehind[];
  /** The id is that in the list of requests; null when the request is dropped. */
  readonly exchange: number | null;
  readonly blocked: boolean;
  readonly stopped: boolean;
}

export interface RefusedDetail extends SendDetail {
  readonly refusal: RefusalView & {
    readonly subcode: number | null;
    readonly message: string;
    readonly details: string;
  };
}

export interface PersonsReply {
  readonly id: string;
  readonly text: string;
  readonly at_ms: number;
  readonly payload?: string;
}

export interface MessageDetail extends SendDetail {
  /** The keys are retailer ids and media ids that the simulator knows. */
  readonly products: Readonly<Record<string, { readonly name: string; readonly price: string }>>;
  readonly media: Readonly<
    Record<string, { readonly kind: string; readonly seconds?: number; readonly pages?: number }>
  >;
  readonly parts: readonly Part[];
  readonly components: readonly Component[];
  readonly replies: readonly PersonsReply[];
  /** The pacing of the sending number's portfolio may hold the message. */
  readonly business: string;
}

export interface TemplateRow {
  readonly id: string;
  readonly waba_id: string;
  readonly name: string;
  readonly language: string;
  readonly category: string;
  readonly status: string;
  readonly quality: string;
  readonly rejected_reason: string;
}

export interface TemplateDetail extends TemplateRow {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly components: readonly Component[];
}

export interface ExchangeRow {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly status: number | null;
  readonly received_at: string;
  readonly to: string | null;
  readonly template: string | null;
  readonly code: number | null;
}

export interface AttemptRow {
  readonly id: number;
  readonly at: string;
  readonly kind: string | null;
  readonly event_id: string | null;
  readonly client_id: number;
  readonly dispatch_id: string | null;
  /** The event names a message by dispatch id and place, the mark at the platform. */
  readonly message_id: string | null;
  readonly attempt: number | null;
  readonly outcome: string;
  readonly code: string | null;
  readonly duration_ms: number | null;
}

export interface Attempts {
  readonly total: number;
  readonly data: readonly AttemptRow[];
}

export interface PersonActRow {
  readonly id: number;
  readonly kind: 'text' | 'quick_reply' | 'choice' | 'form' | 'stop' | 'resume' | 'signup';
  readonly person: string;
  readonly number: string;
  readonly text: string;
  readonly at_ms: number;
  /** The id, mark and template are those of the answered message. */
  readonly message: string | null;
  readonly mark: string | null;
  readonly template: string;
}

export type Post = Delivery;

export interface Posts {
  readonly total: number;
  readonly data: readonly Post[];
}

export interface ExchangeDetail extends ExchangeRow {
  /** The inbox has the message or the refused send under this id. */
  readonly message: string | null;
  readonly request: { readonly query: Readonly<Record<string, string>>; readonly body: unknown };
  readonly reply: { readonly kind: string; readonly body: unknown; readonly cut: boolean } | null;
}

type Fields = Readonly<Record<string, unknown>>;

interface InForce {
  readonly id: string;
  readonly match: Fields;
  /** So many requests or messages remain; null until it is removed. */
  readonly left: number | null;
}

export interface StopView {
  readonly phone_number_id: string;
  readonly to: string;
  readonly answer: 'failed' | 'refused';
}

export interface HoldView {
  readonly code: number | string;
  readonly since: string;
  readonly expires_at?: string;
  readonly later?: boolean;
}

export interface PacingView {
  readonly since?: string;
  readonly accepts?: number;
  readonly held?: number;
  readonly ends_at?: string;
  readonly review_code?: number;
  readonly review_since?: string;
}

export interface PausedView {
  readonly id: string;
  readonly waba_id: string;
  readonly name: string;
  readonly language: string;
  readonly since: string | null;
  readonly until: string | null;
}

export interface Overview {
  readonly now_ms: number;
  readonly advanced_seconds: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: readonly (InForce & { readonly action: Fields })[];
  readonly receipts: readonly (InForce & { readonly course: Fields })[];
  readonly blocked: readonly string[];
  readonly stopped: readonly StopView[];
  readonly paused: readonly PausedView[];
  readonly businesses: readonly { readonly id: string; readonly name: string; readonly pacing: PacingView | null }[];
  readonly wabas: readonly { readonly id: string; readonly fields: Fields; readonly holds: readonly HoldView[] }[];
  readonly numbers: readonly {
    readonly id: string;
    readonly waba_id: string;
    readonly fields: Fields;
    readonly holds: readonly HoldView[];
  }[];
  readonly apps: readonly {
    readonly id: string;
    readonly name: string;
    readonly callback: { readonly url: string } | null;
  }[];
  readonly magic_recipients: readonly { readonly to: string; readonly what: string }[];
  readonly magic_words: readonly { readonly word: string; readonly what: string }[];
}

export interface ControlCall {
  readonly method: string;
  readonly path: string;
  readonly what: string;
}
