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
}

export interface MessageDetail {
  readonly row: InboxRow;
  readonly path: string;
  readonly request: unknown;
  readonly parts: readonly Part[];
  readonly components: readonly Component[];
  readonly template_id: string;
  readonly from: string;
  readonly from_name: string;
  readonly callback_data: string | null;
  readonly replies: readonly { readonly id: string; readonly text: string; readonly at_ms: number }[];
  readonly blocked: boolean;
  /** The recipient wants no marketing from the number that sent it. */
  readonly stopped: boolean;
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
  readonly attempt: number | null;
  readonly outcome: string;
  readonly code: string | null;
  readonly duration_ms: number | null;
}

/** One POST of the platform to whoever it tells. */
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
  /** The message that was accepted. */
  readonly message: string | null;
  readonly request: { readonly query: Readonly<Record<string, string>>; readonly body: unknown };
  readonly reply: { readonly kind: string; readonly body: unknown; readonly cut: boolean } | null;
}

type Fields = Readonly<Record<string, unknown>>;

interface InForce {
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
  /** When it began. */
  readonly since: string;
}

export interface Overview {
  readonly now_ms: number;
  readonly advanced_seconds: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: readonly (InForce & { readonly action: Fields })[];
  readonly receipts: readonly (InForce & { readonly course: Fields })[];
  readonly blocked: readonly string[];
  readonly stopped: readonly StopTold[];
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
