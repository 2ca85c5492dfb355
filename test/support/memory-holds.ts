import { asked, type HoldRule, type Holds, noHolds, questionOf } from '../../lib/messages/holds/hold.ts';
import type { HoldsOfWabas } from '../../lib/messages/holds/hold-store.ts';
import type { HoldableMessage } from '../../lib/messages/holds/scope.ts';

/** The holds of WABAs in memory: one writer at a time, who sees what the one before has left. */
export class MemoryHolds implements HoldsOfWabas {
  readonly stored = new Map<string, Holds>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  of(wabaId: string): Holds {
    return this.stored.get(wabaId) ?? noHolds;
  }

  async find(wabaId: string): Promise<Holds> {
    return this.of(wabaId);
  }

  async change(wabaId: string, rule: HoldRule): Promise<Holds> {
    this.stored.set(wabaId, rule(this.of(wabaId)));
    return this.of(wabaId);
  }

  async ask(wabaId: string, message: HoldableMessage) {
    const { item, value } = asking(this.of(wabaId), message, this.#nowMs());
    this.stored.set(wabaId, item);
    return value;
  }
}

/** The write by which a worker takes the question of all holds on its message, or of none (hold-store.adapter.test.ts). */
export function asking(holds: Holds, message: HoldableMessage, nowMs: number) {
  const item = asked(message, nowMs)(holds);
  return { item, value: item === holds ? undefined : questionOf(item, message) };
}
