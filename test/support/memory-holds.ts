import { type HoldRule, type Holds, noHolds } from '../../lib/messages/holds/hold.ts';
import type { HoldsOfWabas } from '../../lib/messages/holds/hold-store.ts';
import { probeOf, probeTaken } from '../../lib/messages/holds/questions.ts';
import type { HoldableMessage } from '../../lib/messages/holds/scope.ts';

/** Writers of the holds in memory come one at a time, and each sees the state of the one before. */
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

  async takeProbe(wabaId: string, message: HoldableMessage) {
    const { item, value } = asking(this.of(wabaId), message, this.#nowMs());
    this.stored.set(wabaId, item);
    return value;
  }
}

/** Writes that a worker asks for all holds on its message, or for none of them (hold-store.adapter.test.ts). */
export function asking(holds: Holds, message: HoldableMessage, nowMs: number) {
  const item = probeTaken(message, nowMs)(holds);
  return { item, value: item === holds ? undefined : probeOf(item, message) };
}
