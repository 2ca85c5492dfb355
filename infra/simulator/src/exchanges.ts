import type { RecordedRequest } from './logs.ts';
import type { Reply } from './reply.ts';

export interface Exchange {
  /** The id counts from 1 after each reset. */
  readonly id: number;
  readonly request: RecordedRequest;
  /** The reply is undefined until the request is answered. */
  reply: ExchangeReply | undefined;
}

export interface ExchangeReply {
  readonly kind: Reply['kind'];
  /** The body is JSON, or the text of a page; null for bytes and for a closed connection. */
  readonly body: unknown;
  /** The body was too long: `body` holds only its beginning, as text. */
  readonly cut: boolean;
}

/** At least this many are kept, at most twice as many. */
export const exchangesKept = 2_000;
const longestBodyKept = 20_000;

export class ExchangeLog {
  #kept: Exchange[] = [];
  #total = 0;
  #answered = 0;

  get total(): number {
    return this.#total;
  }

  /** Grows with every reply, so that a page sees a change. */
  get answered(): number {
    return this.#answered;
  }

  add(request: RecordedRequest): Exchange {
    this.#total += 1;
    const exchange: Exchange = { id: this.#total, request, reply: undefined };
    this.#kept.push(exchange);
    if (this.#kept.length === 2 * exchangesKept) this.#kept = this.#kept.slice(exchangesKept);
    return exchange;
  }

  answer(exchange: Exchange, reply: Reply): void {
    this.#answered += 1;
    exchange.reply = keptReply(reply);
  }

  get(id: number): Exchange | undefined {
    const first = this.#kept[0]?.id ?? 0;
    return this.#kept[id - first];
  }

  /** Finds the request by the identity of its body. */
  withBody(body: unknown): Exchange | undefined {
    return this.#kept.findLast(({ request }) => request.body === body);
  }

  newest(limit: number): readonly Exchange[] {
    return limit === 0 ? [] : this.#kept.slice(-limit).reverse();
  }
}

function keptReply(reply: Reply): ExchangeReply {
  const { kind } = reply;
  if (reply.kind === 'closed' || reply.kind === 'bytes') return { kind, body: null, cut: false };
  const text = reply.kind === 'html' ? reply.html : JSON.stringify(reply.body);
  if (text.length > longestBodyKept) return { kind, body: text.slice(0, longestBodyKept), cut: true };
  return { kind, body: reply.kind === 'html' ? text : reply.body, cut: false };
}
