import type { Breakers } from '../../lib/messages/holds/breaker.ts';
import { type Breaker, unknownBreaker } from '../../lib/messages/holds/breaker.ts';

/** Writers of the circuit breaker in memory come one at a time, and each sees the state of the one before. */
export class MemoryBreaker implements Breakers {
  stored: Breaker = unknownBreaker;
  finds = 0;
  writes = 0;

  async find(): Promise<Breaker> {
    this.finds += 1;
    return this.stored;
  }

  async change(...[, rule]: Parameters<Breakers['change']>): Promise<Breaker | undefined> {
    const next = rule(this.stored);
    if (next === undefined) return undefined;
    this.writes += 1;
    this.stored = { ...next, version: this.stored.version + 1 };
    return this.stored;
  }
}
