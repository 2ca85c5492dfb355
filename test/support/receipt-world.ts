import { type DispatchHead, messageIdOf } from '../../lib/messages/dispatch/head.ts';
import type { ReceiptPorts } from '../../lib/messages/receipts/receipt-ports.ts';
import type { LogFacts } from '../../lib/observe/log.ts';
import { defaultEventTypes } from '../../lib/webhooks/event.ts';
import { MemoryEvents } from './memory-events.ts';
import { MemoryHolds } from './memory-holds.ts';
import { MemoryInbound } from './memory-opt-outs.ts';
import { MemoryTable } from './messages-table/memory-table.ts';
import { noCosts } from './no-costs.ts';

/** A run of receipts has its ports in memory, with a clock that only the test moves. */
export class ReceiptWorld {
  nowMs = 1_800_000_000_000;
  readonly table = new MemoryTable();
  /** The keys are message ids. */
  readonly addresses = new Map<string, string>();
  /** All calls of the table are here, except reads of heads. */
  readonly calls: string[] = [];
  readonly events = new MemoryEvents();
  readonly inbound = new MemoryInbound();
  readonly holds = new MemoryHolds(() => this.nowMs);
  readonly logged: { readonly event: string; readonly facts: LogFacts }[] = [];

  /** Returns the ports of a run for the dispatches of these heads; by default every client receives all events. */
  ports(heads: readonly DispatchHead[], changes: Partial<ReceiptPorts> = {}): ReceiptPorts {
    const { records, slices } = this.table.ofReceipts({
      call: async (name, effect) => {
        this.calls.push(name);
        return await effect();
      },
    });
    return {
      records: {
        ...records,
        findHeads: async (dispatchIds) =>
          new Map(
            heads.filter(({ dispatchId }) => dispatchIds.includes(dispatchId)).map((head) => [head.dispatchId, head]),
          ),
      },
      slices,
      addressesOf: async (messages) => {
        this.calls.push('addressesOf');
        const ids = messages.map(messageIdOf);
        return new Map([...this.addresses].filter(([messageId]) => ids.includes(messageId)));
      },
      changeHolds: (wabaId, rule) => {
        this.calls.push('changeHolds');
        return this.holds.change(wabaId, rule);
      },
      wanted: async () => defaultEventTypes,
      events: this.events,
      inbound: this.inbound,
      countCost: noCosts.countCost,
      nowMs: () => this.nowMs,
      remainingMs: () => 60_000,
      log: (event, facts) => void this.logged.push({ event, facts }),
      ...changes,
    };
  }
}
