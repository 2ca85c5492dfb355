import { createHash } from 'node:crypto';
import { PlatformFailure } from '../../lib/platform/failure.ts';
import type { VirtualTime } from '../support/virtual-time.ts';

export type Fate =
  | 'taken'
  | 'taken_reply_lost'
  | 'lost'
  | 'no_connection'
  | 'server_error'
  | 'server_trouble'
  | Refusal;

/** Each meaning has the platform's error code (lib/platform/error-codes.json). */
const codeOf = {
  refused: 131047,
  stopped_there: 131050,
  refused_for_now: 131057,
  calls_used_up: 80007,
  credential_refused: 190,
  template_syncing: 134101,
  template_in_review: 132001,
  template_paused: 132015,
  template_disabled: 132016,
  cannot_pay: 131042,
  not_registered: 133010,
  spam_limit: 131048,
} as const;
export type Refusal = keyof typeof codeOf;

export interface PlatformPost {
  readonly messageId: string;
  readonly phoneNumberId: string;
  readonly to: string;
  readonly atMs: number;
  readonly taken: boolean;
  readonly throttled: boolean;
}

export interface Addressed {
  readonly messageId: string;
  readonly phoneNumberId: string;
}

export interface PlatformRules {
  readonly limitPerSecond: (phoneNumberId: string) => number;
  readonly answerMs: () => number;
  readonly fateOf: (post: Addressed) => Fate;
  /** A read is only answered or not answered. */
  readonly readFateOf: () => Fate;
}

/** A person may be written to once in 6 s, after a burst of 45 (platform reference, 6.1). */
const pairSpacingMs = 6_000;
const pairBurst = 45;

/** The platform counts what it takes in any second, for each number and each person, as its reference says. */
export class PlatformModel {
  readonly posts: PlatformPost[] = [];
  readonly readsAtMs: number[] = [];
  readonly #time: VirtualTime;
  readonly #rules: PlatformRules;
  readonly #recent = new Map<string, number[]>();
  readonly #pairs = new Map<string, number>();

  constructor(time: VirtualTime, rules: PlatformRules) {
    this.#time = time;
    this.#rules = rules;
  }

  async post(message: {
    messageId: string;
    phoneNumberId: string;
    to: string;
  }): Promise<{ platformMessageId: string }> {
    const fate = this.#rules.fateOf(message);
    if (fate === 'no_connection') throw new PlatformFailure('not_sent', {});
    if (fate === 'server_error' || fate === 'server_trouble') {
      await this.#time.sleep(this.#rules.answerMs());
      this.#record(message, { taken: false, throttled: false });
      // Failures have the platform's own words; an unexpected error is none of its answers.
      throw new PlatformFailure('ambiguous', {
        httpStatus: 500,
        ...(fate === 'server_trouble' ? { code: 131000 } : {}),
      });
    }
    if (fate === 'lost') return await this.#silence(message, { taken: false, throttled: false });
    await this.#time.sleep(this.#rules.answerMs() / 2);
    if (!this.#takeThroughput(message.phoneNumberId)) {
      this.#record(message, { taken: false, throttled: true });
      await this.#time.sleep(this.#rules.answerMs() / 2);
      throw new PlatformFailure('refused', { httpStatus: 400, code: 130429 });
    }
    if (!this.#takePair(message)) return await this.#refuse(message, 131056);
    if (isRefusal(fate)) return await this.#refuse(message, codeOf[fate]);
    if (fate === 'taken_reply_lost') return await this.#silence(message, { taken: true, throttled: false });
    this.#record(message, { taken: true, throttled: false });
    await this.#time.sleep(this.#rules.answerMs() / 2);
    return { platformMessageId: platformIdOf(message.messageId) };
  }

  /** Answers unless the platform is down. */
  async read(timeoutMs: number): Promise<void> {
    const fate = this.#rules.readFateOf();
    this.readsAtMs.push(this.#time.nowMs);
    if (fate === 'no_connection') throw new PlatformFailure('not_sent', {});
    const isLost = fate === 'lost' || fate === 'taken_reply_lost';
    await this.#time.sleep(isLost ? timeoutMs : this.#rules.answerMs());
    if (isLost || fate === 'server_error' || fate === 'server_trouble') throw new PlatformFailure('ambiguous', {});
  }

  async #refuse(message: { messageId: string; phoneNumberId: string; to: string }, code: number): Promise<never> {
    this.#record(message, { taken: false, throttled: false });
    await this.#time.sleep(this.#rules.answerMs() / 2);
    throw new PlatformFailure('refused', { httpStatus: 400, code });
  }

  async #silence(
    message: { messageId: string; phoneNumberId: string; to: string },
    what: Pick<PlatformPost, 'taken' | 'throttled'>,
  ): Promise<never> {
    this.#record(message, what);
    await this.#time.sleep(10_000);
    throw new PlatformFailure('ambiguous', {});
  }

  #record(
    { messageId, phoneNumberId, to }: { messageId: string; phoneNumberId: string; to: string },
    what: Pick<PlatformPost, 'taken' | 'throttled'>,
  ): void {
    this.posts.push({ messageId, phoneNumberId, to, atMs: this.#time.nowMs, ...what });
  }

  #takeThroughput(phoneNumberId: string): boolean {
    const recent = this.#recent.get(phoneNumberId) ?? [];
    this.#recent.set(phoneNumberId, recent);
    while (recent.length > 0 && (recent[0] as number) <= this.#time.nowMs - 1_000) recent.shift();
    if (recent.length >= this.#rules.limitPerSecond(phoneNumberId)) return false;
    recent.push(this.#time.nowMs);
    return true;
  }

  #takePair({ phoneNumberId, to }: { phoneNumberId: string; to: string }): boolean {
    const pair = `${phoneNumberId} ${to}`;
    const nowMs = this.#time.nowMs;
    const paidUntilMs = Math.max(this.#pairs.get(pair) ?? 0, nowMs);
    if (paidUntilMs - nowMs > pairBurst * pairSpacingMs) return false;
    this.#pairs.set(pair, paidUntilMs + pairSpacingMs);
    return true;
  }
}

function isRefusal(fate: Fate): fate is Refusal {
  return Object.hasOwn(codeOf, fate);
}

/** Returns an id as long as the platform's, which compresses as badly. */
export function platformIdOf(messageId: string): string {
  return `wamid.${createHash('sha512').update(messageId).digest('base64').slice(0, 52)}`;
}
