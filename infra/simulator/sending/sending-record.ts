/** What was done with the sends of one number, each list in the order of time. */
export interface NumberSends {
  /** When each call arrived, whatever became of it. */
  readonly callsMs: readonly number[];
  readonly acceptedMs: readonly number[];
  /** When each was answered 130429, by the number's limit or by a fault. */
  readonly throttledMs: readonly number[];
}

/** Every send since the last reset, all of them kept: what proves that nothing was sent twice, and nothing too fast. */
export class SendingRecord {
  readonly #byNumber = new Map<string, { callsMs: number[]; acceptedMs: number[]; throttledMs: number[] }>();
  readonly #byDispatchId = new Map<string, number>();
  #withoutDispatchId = 0;

  called(numberId: string, nowMs: number): void {
    this.#of(numberId).callsMs.push(nowMs);
  }

  throttled(numberId: string, nowMs: number): void {
    this.#of(numberId).throttledMs.push(nowMs);
  }

  /** `dispatchId` is the message's `biz_opaque_callback_data`. */
  accepted(numberId: string, dispatchId: string | undefined, nowMs: number): void {
    this.#of(numberId).acceptedMs.push(nowMs);
    if (dispatchId === undefined) this.#withoutDispatchId += 1;
    else this.#byDispatchId.set(dispatchId, (this.#byDispatchId.get(dispatchId) ?? 0) + 1);
  }

  sendsOf(numberId: string): NumberSends {
    return this.#byNumber.get(numberId) ?? { callsMs: [], acceptedMs: [], throttledMs: [] };
  }

  get withoutDispatchId(): number {
    return this.#withoutDispatchId;
  }

  /** The dispatch ids that were accepted more than once, and how often. */
  duplicates(): readonly (readonly [string, number])[] {
    return [...this.#byDispatchId].filter(([, count]) => count > 1);
  }

  #of(numberId: string): { callsMs: number[]; acceptedMs: number[]; throttledMs: number[] } {
    const known = this.#byNumber.get(numberId);
    if (known !== undefined) return known;
    const sends = { callsMs: [], acceptedMs: [], throttledMs: [] };
    this.#byNumber.set(numberId, sends);
    return sends;
  }
}
