import type { Component, Part } from './phone-view.ts';

/*
 * What the simulator tells the console: the answers of its control calls.
 */

export interface Told {
  readonly status: string;
  readonly at_ms: number;
  readonly code?: number;
}

export interface InboxRow {
  /** 1 for the first since the last reset. */
  readonly place: number;
  readonly id: string;
  readonly to: string;
  readonly number: string;
  readonly template: string;
  readonly language: string;
  readonly category: string;
  readonly preview: string;
  readonly job: string;
  readonly received_ms: number;
  readonly told: readonly Told[];
  readonly replies: number;
  /** The platform delivers nothing of it before; null: until it knows how the first ones fare. */
  readonly held_until_ms?: number | null;
  /** Of a send that was answered with an error; no code: a page came in the place of an answer. */
  readonly refusal?: RefusalTold & { readonly kind: DroppedRows['kind'] };
}

export interface RefusalTold {
  readonly code: number | null;
  readonly http_status: number;
}

/** Rows of one kind that are not kept any more. */
export interface DroppedRows {
  readonly kind: 'throttled' | 'other';
  readonly count: number;
  /** The oldest that is kept: when, and its place. */
  readonly since_ms: number;
  readonly since_place: number;
}

/** A hold that refuses messages, and the control call that removes it. */
export interface HoldBehind {
  /** `WABA`, `number` or `business` */
  readonly of: string;
  readonly id: string;
  readonly code: number;
  readonly remove: string;
}

/** What a send belongs to, whether it was accepted or refused. */
export interface SendDetail {
  readonly row: InboxRow;
  readonly path: string;
  readonly request: unknown;
  /** Empty of a text, and where the template is not there. */
  readonly template_id: string;
  readonly from: string;
  readonly from_name: string;
  readonly callback_data: string | null;
  /** Null where the service has not marked it. */
  readonly dispatch: { readonly did: string; readonly id: string } | null;
  /** Every send of the same mark, oldest first. */
  readonly tries: readonly { readonly id: string; readonly at_ms: number; readonly refusal?: RefusalTold }[];
  readonly holds: readonly HoldBehind[];
  /** Its place in the list of requests; null: it is not kept any more. */
  readonly exchange: number | null;
  readonly blocked: boolean;
  /** The recipient wants no marketing from the number that sent it. */
  readonly stopped: boolean;
}

export interface RefusedDetail extends SendDetail {
  readonly refusal: RefusalTold & {
    readonly subcode: number | null;
    readonly message: string;
    readonly details: string;
  };
}

export interface PersonsReply {
  readonly id: string;
  readonly text: string;
  readonly at_ms: number;
  /** Behind the quick reply that was tapped. */
  readonly payload?: string;
}

export interface MessageDetail extends SendDetail {
  /** What the simulator knows of the products and media that the message names, by retailer id and media id. */
  readonly products: Readonly<Record<string, { readonly name: string; readonly price: string }>>;
  readonly media: Readonly<
    Record<string, { readonly kind: string; readonly seconds?: number; readonly pages?: number }>
  >;
  readonly parts: readonly Part[];
  readonly components: readonly Component[];
  readonly replies: readonly PersonsReply[];
  /** The portfolio of the number that sent it: its pacing may hold the message. */
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
  /** Of a send. */
  readonly to: string | null;
  readonly template: string | null;
  /** Of a refusal. */
  readonly code: number | null;
}

/** One attempt of the service to tell a client an event. */
export interface AttemptRow {
  readonly id: number;
  readonly at: string;
  readonly kind: string | null;
  readonly event_id: string | null;
  readonly client_id: number;
  /** The dispatch that the event names. */
  readonly job_id: string | null;
  /** The message that it names: a dispatch and a place in it, the mark that the message carries at the platform. */
  readonly message_id: string | null;
  readonly attempt: number | null;
  readonly outcome: string;
  readonly code: string | null;
  readonly duration_ms: number | null;
}

export interface Attempts {
  /** The dropped ones too. */
  readonly total: number;
  readonly data: readonly AttemptRow[];
}

/** What a person did on the phone. */
export interface DoingRow {
  readonly id: number;
  readonly kind: 'text' | 'quick_reply' | 'choice' | 'form' | 'stop' | 'resume' | 'signup';
  readonly person: string;
  /** The digits of the number that it was told to. */
  readonly number: string;
  readonly text: string;
  readonly at_ms: number;
  /** The message that it answers, the mark of that, and its template. */
  readonly message: string | null;
  readonly mark: string | null;
  readonly template: string;
}

/** One POST of the platform to those it tells. */
export interface Post {
  readonly app_id: string;
  readonly url: string;
  readonly updates: number;
  /** How many of each field. */
  readonly fields: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly attempt: number;
  /** The HTTP status, or why there is none. */
  readonly answer: number | string;
  readonly at: string;
  /** Absent when it is long. */
  readonly body?: unknown;
}

export interface Posts {
  readonly total: number;
  readonly data: readonly Post[];
}

export interface ExchangeDetail extends ExchangeRow {
  /** Its place in the inbox: of the message that was accepted, or of the refused send. */
  readonly message: string | null;
  readonly request: { readonly query: Readonly<Record<string, string>>; readonly body: unknown };
  readonly reply: { readonly kind: string; readonly body: unknown; readonly cut: boolean } | null;
}

type Fields = Readonly<Record<string, unknown>>;

interface InForce {
  readonly id: string;
  readonly match: Fields;
  /** How many requests it still holds for; null: until it is deleted. */
  readonly left: number | null;
}

/** A person who wants no marketing from a number. */
export interface StopTold {
  readonly phone_number_id: string;
  readonly to: string;
  /** What becomes of marketing that is sent anyway. */
  readonly answer: 'failed' | 'refused';
}

/** Why messages of a WABA or a number are refused. */
export interface HoldTold {
  readonly code: number | string;
  readonly since: string;
  /** When it ends by itself. */
  readonly expires_at?: string;
  /** Messages are accepted all the same, and fail later. */
  readonly later?: boolean;
}

/** The pacing of a portfolio, and its review. */
export interface PacingTold {
  readonly since?: string;
  readonly accepts?: number;
  readonly held?: number;
  readonly ends_at?: string;
  readonly review_code?: number;
  readonly review_since?: string;
}

export interface PausedTold {
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
  readonly stopped: readonly StopTold[];
  readonly paused: readonly PausedTold[];
  readonly businesses: readonly { readonly id: string; readonly name: string; readonly pacing: PacingTold | null }[];
  readonly wabas: readonly { readonly id: string; readonly fields: Fields; readonly holds: readonly HoldTold[] }[];
  readonly numbers: readonly {
    readonly id: string;
    readonly waba_id: string;
    readonly fields: Fields;
    readonly holds: readonly HoldTold[];
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
