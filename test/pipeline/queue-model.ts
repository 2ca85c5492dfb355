import type { VirtualTime } from '../support/virtual-time.ts';

export interface QueueRules {
  readonly visibilityMs: number;
  /** A message goes to the dead-letter queue after so many deliveries. */
  readonly maxReceiveCount: number;
  /** A delay ends late by up to this. */
  readonly delayJitterMs: number;
  /** This share of acknowledged messages is delivered once more, in [0, 1]. */
  readonly repeatShare: number;
}

export interface ModelDelivery {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly sentAtMs: number;
  readonly receiveCount: number;
}

interface Stored {
  readonly messageId: string;
  readonly body: string;
  readonly sentAtMs: number;
  receiveCount: number;
  /** The latest delivery has this receipt handle while it is in flight. */
  handle: string | undefined;
  hiddenUntilMs: number;
}

/**
 * Behaves as a standard SQS queue may: at-least-once and unordered delivery, late delays, redelivery after the
 * visibility time-out, and sometimes delivery after an acknowledgement.
 */
export class QueueModel {
  readonly deadLetters: Stored[] = [];
  readonly #time: VirtualTime;
  readonly #rules: QueueRules;
  readonly #random: () => number;
  readonly #inFlight = new Map<string, Stored>();
  readonly #idle: ((delivery: ModelDelivery) => void)[] = [];
  #ready: Stored[] = [];
  #total = 0;
  #handles = 0;

  constructor(time: VirtualTime, rules: QueueRules, random: () => number) {
    this.#time = time;
    this.#rules = rules;
    this.#random = random;
  }

  get isEmpty(): boolean {
    return this.#live === 0;
  }

  get live(): number {
    return this.#live;
  }

  /** So many visible messages wait for a worker. */
  get waiting(): number {
    return this.#ready.length;
  }

  #live = 0;

  send(body: string, delaySeconds = 0): void {
    this.#total += 1;
    this.#live += 1;
    const stored: Stored = {
      messageId: `message-${this.#total}`,
      body,
      sentAtMs: this.#time.nowMs,
      receiveCount: 0,
      handle: undefined,
      hiddenUntilMs: 0,
    };
    const delayMs = delaySeconds === 0 ? 0 : delaySeconds * 1_000 + this.#random() * this.#rules.delayJitterMs;
    this.#after(delayMs, () => this.#appear(stored));
  }

  /**
   * Returns up to `most` messages of a backlog, otherwise the next message alone. Messages of one millisecond go to
   * different pollers, because SQS does not promise to batch them.
   */
  async poll(most: number): Promise<ModelDelivery[]> {
    const backlog = this.receive(most);
    if (backlog.length > 0) return backlog;
    return await new Promise((resolve) => this.#idle.push((delivery) => resolve([delivery])));
  }

  /** Returns what became visible within a batching window. */
  async pollWithin(windowMs: number, most: number): Promise<ModelDelivery[]> {
    const [first] = await this.poll(1);
    await this.#time.sleep(windowMs);
    return [...(first === undefined ? [] : [first]), ...this.receive(most - 1)];
  }

  /** Returns up to `most` visible messages, mostly in the order in which they appeared. */
  receive(most: number): ModelDelivery[] {
    const deliveries: ModelDelivery[] = [];
    while (deliveries.length < most && this.#ready.length > 0) {
      const near = Math.floor(this.#random() * Math.min(this.#ready.length, 3));
      const [stored] = this.#ready.splice(near, 1);
      if (stored === undefined) break;
      const delivery = this.#deliver(stored);
      if (delivery !== undefined) deliveries.push(delivery);
    }
    return deliveries;
  }

  acknowledge(receiptHandle: string): void {
    const stored = this.#inFlight.get(receiptHandle);
    if (stored === undefined) return;
    this.#inFlight.delete(receiptHandle);
    stored.handle = undefined;
    if (this.#random() < this.#rules.repeatShare) this.#after(this.#random() * 60_000, () => this.#appear(stored));
    else this.#live -= 1;
  }

  changeVisibility(receiptHandle: string, seconds: number): void {
    const stored = this.#inFlight.get(receiptHandle);
    if (stored !== undefined) this.#hide(stored, receiptHandle, seconds * 1_000);
  }

  #deliver(stored: Stored): ModelDelivery | undefined {
    stored.receiveCount += 1;
    if (stored.receiveCount > this.#rules.maxReceiveCount) {
      this.deadLetters.push(stored);
      this.#live -= 1;
      return undefined;
    }
    this.#handles += 1;
    const receiptHandle = `handle-${this.#handles}`;
    stored.handle = receiptHandle;
    this.#inFlight.set(receiptHandle, stored);
    this.#hide(stored, receiptHandle, this.#rules.visibilityMs);
    const { messageId, body, sentAtMs, receiveCount } = stored;
    return { messageId, receiptHandle, body, sentAtMs, receiveCount };
  }

  #hide(stored: Stored, receiptHandle: string, ms: number): void {
    stored.hiddenUntilMs = this.#time.nowMs + ms;
    this.#after(ms, () => {
      if (stored.handle !== receiptHandle || stored.hiddenUntilMs > this.#time.nowMs) return;
      this.#inFlight.delete(receiptHandle);
      stored.handle = undefined;
      this.#appear(stored);
    });
  }

  #appear(stored: Stored): void {
    // Lambda takes the process that ran last: it is warm.
    const poller = this.#idle.pop();
    if (poller === undefined) return void this.#ready.push(stored);
    const delivery = this.#deliver(stored);
    if (delivery === undefined) this.#idle.push(poller);
    else poller(delivery);
  }

  #after(ms: number, then: () => void): void {
    if (ms <= 0) then();
    else void this.#time.sleep(ms).then(then);
  }
}
