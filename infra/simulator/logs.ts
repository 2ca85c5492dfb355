import { newestBefore, RefusedLog, type RefusedSend } from './refused-log.ts';
import type { Template } from './templates/template.ts';
import type { AcceptedMessage, ToldStatus } from './webhooks/receipts.ts';

/** An accepted message, as the control interface shows it. */
export interface RecordedMessage {
  readonly id: string;
  /** Digits of the number, or the business-scoped user id. */
  readonly to: string;
  readonly phone_number_id: string;
  /** The request's whole path, as in the list of requests. */
  readonly path: string;
  readonly request: unknown;
  readonly received_at: string;
}

/** A platform request, as the control interface shows it. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** The HTTP status of the reply; null while none was given, and for good when the connection was closed instead. */
  status: number | null;
  readonly received_at: string;
}

export interface Listing<T> {
  readonly total: number;
  readonly data: readonly T[];
}

/** What its recipient answered. */
export interface RecipientReply {
  readonly id: string;
  readonly text: string;
  readonly at_ms: number;
  /** What the business has put behind the quick reply that was tapped. */
  readonly payload?: string;
}

/** What a message says: a template as it was when the message was sent, perhaps made of its text, or a text. */
export type MessageContent =
  | { readonly kind: 'template'; readonly template: Template; readonly isDirect?: true }
  | { readonly kind: 'text'; readonly text: string };

/** An accepted message with what it takes to show it, and to tell more of it. */
export interface Entry {
  /** 1 for the first since the last reset; what was refused has its place in between. */
  readonly place: number;
  readonly message: RecordedMessage;
  readonly content: MessageContent;
  /** What its statuses say. */
  readonly accepted: AcceptedMessage;
  readonly told: readonly ToldStatus[];
  readonly replies: readonly RecipientReply[];
  /** The platform delivers nothing of it before; infinite: until it is known how the first ones fare. */
  readonly heldUntilMs?: number;
}

/** Every accepted message since the last reset, all of them kept: exactness is what it is for (about 1 KB each). */
export class MessageLog {
  readonly #all: Entry[] = [];
  readonly #byRecipient = new Map<string, Entry[]>();
  readonly #byTemplate = new Map<string, Entry[]>();
  readonly #byId = new Map<string, Entry>();
  /** What was refused is no message, and counts as none: it has its places in the same list. */
  readonly refused = new RefusedLog();
  #touched = 0;

  /** Grows when something is told of a message after it was accepted. */
  get touched(): number {
    return this.#touched;
  }

  get total(): number {
    return this.#all.length;
  }

  get recipients(): number {
    return this.#byRecipient.size;
  }

  /** How many places were given, to accepted messages and to refused ones. */
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

  /** Those that the sender has marked so, oldest first. */
  marked(callbackData: string): readonly Entry[] {
    return this.#all.filter(({ accepted }) => accepted.callbackData === callbackData);
  }

  /** Notes what became of a message later. */
  tell(entry: Entry, more: { readonly told?: ToldStatus; readonly reply?: RecipientReply }): void {
    const known = this.#byId.get(entry.message.id) as { -readonly [K in keyof Entry]: Entry[K] } | undefined;
    if (known === undefined) return;
    if (more.told !== undefined) known.told = [...known.told, more.told];
    if (more.reply !== undefined) known.replies = [...known.replies, more.reply];
    this.#touched += 1;
  }

  /** Notes what is told of a message once it is not held any more. */
  tellAll(id: string, told: readonly ToldStatus[]): void {
    const entry = this.#byId.get(id) as { -readonly [K in keyof Entry]: Entry[K] } | undefined;
    if (entry === undefined) return;
    delete entry.heldUntilMs;
    entry.told = [...entry.told, ...told];
    this.#touched += 1;
  }

  /** Those that sent a template of that name, oldest first. */
  ofTemplate(name: string): readonly Entry[] {
    return this.#byTemplate.get(name) ?? [];
  }

  /** What was accepted and what was refused, newest first, those before the place. */
  before(place: number, limit: number): readonly (Entry | RefusedSend)[] {
    const found = [...newestBefore(this.#all, place, limit), ...this.refused.before(place, limit)];
    return found.sort((one, other) => other.place - one.place).slice(0, limit);
  }

  /** Newest first; `total` counts every match whatever the limit. */
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

/** The newest platform requests: at least this many, at most twice as many are kept. */
export const requestsKept = 50_000;

export class RequestLog {
  #kept: RecordedRequest[] = [];
  #count = 0;

  /** All requests since the last reset, the forgotten ones too. */
  get total(): number {
    return this.#count;
  }

  add(request: RecordedRequest): void {
    this.#count += 1;
    this.#kept.push(request);
    if (this.#kept.length === 2 * requestsKept) this.#kept = this.#kept.slice(requestsKept);
  }

  /** Newest first; `path` matches any part of the path; `total` counts the matches among the requests kept. */
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
