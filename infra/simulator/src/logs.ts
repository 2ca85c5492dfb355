import { newestBefore, RefusedLog, type RefusedSend } from './refused-log.ts';
import type { Template } from './templates/template.ts';
import type { AcceptedMessage, StatusView } from './webhooks/receipts.ts';

export interface RecordedMessage {
  readonly id: string;
  /** The recipient has the digits of a number, or a business-scoped user id. */
  readonly to: string;
  readonly phone_number_id: string;
  readonly path: string;
  readonly request: unknown;
  readonly received_at: string;
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** The HTTP status of the reply is null until it is given, and always for a closed connection. */
  status: number | null;
  readonly received_at: string;
}

export interface Listing<T> {
  readonly total: number;
  readonly data: readonly T[];
}

export interface RecipientReply {
  readonly id: string;
  readonly text: string;
  readonly at_ms: number;
  readonly payload?: string;
}

/** The content is a text, or the template as it was at the send; a direct send makes its template from its text. */
export type MessageContent =
  | { readonly kind: 'template'; readonly template: Template; readonly isDirect?: true }
  | { readonly kind: 'text'; readonly text: string };

export interface Entry {
  /** The place counts from 1 since the last reset. Refused sends share the sequence. */
  readonly place: number;
  readonly message: RecordedMessage;
  readonly content: MessageContent;
  readonly accepted: AcceptedMessage;
  readonly told: readonly StatusView[];
  readonly replies: readonly RecipientReply[];
  /** The platform delivers nothing before this time; infinite while pacing has not decided. */
  readonly heldUntilMs?: number;
}

/** No message is dropped, so that counts stay exact (about 1 KB each). */
export class MessageLog {
  readonly #all: Entry[] = [];
  readonly #byRecipient = new Map<string, Entry[]>();
  readonly #byTemplate = new Map<string, Entry[]>();
  readonly #byId = new Map<string, Entry>();
  /** Refused sends count as no message, but share the sequence of places. */
  readonly refused = new RefusedLog();
  #touched = 0;

  /** The count grows when an accepted message gets a status or a reply. */
  get touched(): number {
    return this.#touched;
  }

  get total(): number {
    return this.#all.length;
  }

  get recipients(): number {
    return this.#byRecipient.size;
  }

  get places(): number {
    return this.#all.length + this.refused.total;
  }

  add(message: RecordedMessage, facts: Pick<Entry, 'content' | 'accepted' | 'told' | 'heldUntilMs'>): void {
    const entry = { place: this.places + 1, message, ...facts, replies: [] };
    this.#all.push(entry);
    this.#byId.set(message.id, entry);
    push(this.#byRecipient, message.to, entry);
    const template = templateNameOf(entry);
    if (template !== undefined) push(this.#byTemplate, template, entry);
  }

  refuse(send: Omit<RefusedSend, 'place'>): void {
    this.refused.add({ place: this.places + 1, ...send });
  }

  get(id: string): Entry | undefined {
    return this.#byId.get(id);
  }

  /** Returns messages whose sender gave this callback data, oldest first. */
  marked(callbackData: string): readonly Entry[] {
    return this.#all.filter(({ accepted }) => accepted.callbackData === callbackData);
  }

  tell(entry: Entry, more: { readonly told?: StatusView; readonly reply?: RecipientReply }): void {
    const known = this.#byId.get(entry.message.id) as { -readonly [K in keyof Entry]: Entry[K] } | undefined;
    if (known === undefined) return;
    if (more.told !== undefined) known.told = [...known.told, more.told];
    if (more.reply !== undefined) known.replies = [...known.replies, more.reply];
    this.#touched += 1;
  }

  /** Adds the statuses of a message after its release. */
  tellAll(id: string, told: readonly StatusView[]): void {
    const entry = this.#byId.get(id) as { -readonly [K in keyof Entry]: Entry[K] } | undefined;
    if (entry === undefined) return;
    delete entry.heldUntilMs;
    entry.told = [...entry.told, ...told];
    this.#touched += 1;
  }

  /** Returns messages of a template by name, oldest first. */
  ofTemplate(name: string): readonly Entry[] {
    return this.#byTemplate.get(name) ?? [];
  }

  /** Returns accepted and refused sends before the place, newest first. */
  before(place: number, limit: number): readonly (Entry | RefusedSend)[] {
    const found = [...newestBefore(this.#all, place, limit), ...this.refused.before(place, limit)];
    return found.sort((one, other) => other.place - one.place).slice(0, limit);
  }

  /** Returns the newest first; `total` counts every match whatever the limit. */
  find(wanted: {
    readonly to?: string | undefined;
    readonly template?: string | undefined;
    readonly limit: number;
  }): Listing<RecordedMessage> {
    const found = this.#matching(wanted.to, wanted.template);
    return { total: found.length, data: newest(found, wanted.limit).map((entry) => entry.message) };
  }

  #matching(to: string | undefined, template: string | undefined): readonly Entry[] {
    if (to === undefined) return template === undefined ? this.#all : this.ofTemplate(template);
    const toThem = this.#byRecipient.get(to) ?? [];
    return template === undefined ? toThem : toThem.filter((entry) => templateNameOf(entry) === template);
  }
}

function templateNameOf({ content }: Entry): string | undefined {
  return content.kind === 'template' ? content.template.fields.name : undefined;
}

/** The log keeps at least this many requests, at most twice as many. */
export const requestsKept = 50_000;

export class RequestLog {
  #kept: RecordedRequest[] = [];
  #count = 0;

  /** The total includes dropped requests since the last reset. */
  get total(): number {
    return this.#count;
  }

  add(request: RecordedRequest): void {
    this.#count += 1;
    this.#kept.push(request);
    if (this.#kept.length === 2 * requestsKept) this.#kept = this.#kept.slice(requestsKept);
  }

  /**
   * Returns the newest first; `path` matches any part of the path; `total` counts the matches among the kept requests.
   */
  find(wanted: {
    readonly method?: string | undefined;
    readonly path?: string | undefined;
    readonly limit: number;
  }): Listing<RecordedRequest> {
    const { method, path } = wanted;
    const found = this.#kept.filter(
      (request) =>
        (method === undefined || request.method === method) && (path === undefined || request.path.includes(path)),
    );
    return { total: found.length, data: newest(found, wanted.limit) };
  }
}

function push<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

function newest<T>(list: readonly T[], limit: number): readonly T[] {
  return limit === 0 ? [] : list.slice(-limit).reverse();
}
