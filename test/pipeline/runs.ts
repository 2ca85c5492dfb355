import { OutOfReach } from '../../lib/aws/out-of-reach.ts';
import type { VirtualTime } from '../support/virtual-time.ts';

/** A call of a run to a store, a queue or anything else that answers may fail in these ways. */
export type CallFault = 'fails' | 'reply_lost' | 'lands_late' | 'repeated' | 'times_out';

export interface RunRules {
  /** A call of this name passes it twice, on its way there and back. */
  readonly latencyMs: (name: string) => number;
  /** Is called for each call. */
  readonly count: (name: string, bytes?: number) => void;
  /** Returns undefined where the call succeeds. */
  readonly faultOf: (name: string) => CallFault | undefined;
}

const unavailable = (name: string) => new OutOfReach(`${name} is not available`);

/** A store's client retries for so long before it throws (lib/aws/dynamodb.ts). */
const timeoutMs = 12_000;

const never = new Promise<never>(() => undefined);

/** One run of a function: a process that may die between any two calls, and whose calls may fail in every way. */
export class Run {
  readonly #time: VirtualTime;
  readonly #rules: RunRules;
  #dead = false;

  constructor(time: VirtualTime, rules: RunRules) {
    this.#time = time;
    this.#rules = rules;
  }

  /** From now on no call of this run is answered, and it makes no more. */
  die(): void {
    this.#dead = true;
  }

  /** `bytes` is what the call carries to a queue. */
  async call<T>(name: string, effect: () => T | Promise<T>, bytes?: number): Promise<T> {
    if (this.#dead) return await never;
    await this.#time.sleep(this.#rules.latencyMs(name));
    if (this.#dead) return await never;
    this.#rules.count(name, bytes);
    const fault = this.#rules.faultOf(name);
    if (fault === 'fails') throw unavailable(name);
    if (fault === 'lands_late') {
      void this.#time
        .sleep(2_000)
        .then(effect)
        .catch(() => undefined);
      throw unavailable(name);
    }
    if (fault === 'repeated') await effect();
    const value = await effect();
    if (fault === 'times_out') {
      await this.pause(timeoutMs);
      throw unavailable(name);
    }
    await this.#time.sleep(this.#rules.latencyMs(name));
    if (fault === 'reply_lost') throw unavailable(name);
    return this.#dead ? await never : value;
  }

  /** Time passes for this run only while it lives. */
  async pause(ms: number): Promise<void> {
    await this.#time.sleep(ms);
    if (this.#dead) await never;
  }
}
