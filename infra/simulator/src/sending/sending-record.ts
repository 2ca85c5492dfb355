/** Each list of one number's send times ascends. */
export interface NumberSends {
  /** The list has every call, whatever its outcome. */
  readonly callsMs: readonly number[];
  readonly acceptedMs: readonly number[];
  /** The number's limit or a fault answered these calls 130429. */
  readonly throttledMs: readonly number[];
}

/** The record drops nothing: tests prove with it that the service sends nothing twice and nothing too fast. */
export class SendingRecord {
  readonly #byNumber = new Map<string, { callsMs: number[]; acceptedMs: number[]; throttledMs: number[] }>();
  readonly #byMessageId = new Map<string, number>();
  #withoutMessageId = 0;

  called(numberId: string, nowMs: number): void {
    this.#of(numberId).callsMs.push(nowMs);
  }

  throttled(numberId: string, nowMs: number): void {
    this.#of(numberId).throttledMs.push(nowMs);
  }

  /** `messageId` is the message's `biz_opaque_callback_data`. */
  accepted(numberId: string, messageId: string | undefined, nowMs: number): void {
    this.#of(numberId).acceptedMs.push(nowMs);
    if (messageId === undefined) this.#withoutMessageId += 1;
    else this.#byMessageId.set(messageId, (this.#byMessageId.get(messageId) ?? 0) + 1);
  }

  sendsOf(numberId: string): NumberSends {
    return this.#byNumber.get(numberId) ?? { callsMs: [], acceptedMs: [], throttledMs: [] };
  }

  get withoutMessageId(): number {
    return this.#withoutMessageId;
  }

  /** Returns message ids accepted more than once, with their counts. */
  duplicates(): readonly (readonly [string, number])[] {
    return [...this.#byMessageId].filter(([, count]) => count > 1);
  }

  #of(numberId: string): { callsMs: number[]; acceptedMs: number[]; throttledMs: number[] } {
    const known = this.#byNumber.get(numberId);
    if (known !== undefined) return known;
    const sends = { callsMs: [], acceptedMs: [], throttledMs: [] };
    this.#byNumber.set(numberId, sends);
    return sends;
  }
}
