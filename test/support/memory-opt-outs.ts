import type { InboundMessage, InboundSink } from '../../lib/messages/inbound/inbound-message.ts';
import type { WorkerOptOuts } from '../../lib/messages/send/sending-ports.ts';
import type { OptOutChange } from '../../lib/opt-outs/entry.ts';
import { markKey, markKeysOf } from '../../lib/opt-outs/opt-out-items.ts';
import { noOptOuts, type PersonOptOuts, stopFor } from '../../lib/opt-outs/person.ts';
import { personNames, type Recipient } from '../../lib/opt-outs/person-name.ts';
import type { OptOutPorts } from '../../lib/opt-outs/record-opt-out.ts';
import type { Sender } from '../../lib/opt-outs/scope.ts';
import { type Caller, nothingFails } from './messages-table/memory-table.ts';

const nameOf = personNames(new Uint8Array(32));

/** No write of opt-outs in memory meets a concurrent writer. */
export class MemoryOptOuts {
  readonly people = new Map<string, PersonOptOuts>();
  readonly marks = new Set<string>();

  /** Returns the ports of `recordWord` and similar rules. */
  writer(run: Caller = nothingFails): OptOutPorts {
    return {
      nameOf,
      mark: (scope) => run.call('markOptOuts', () => void this.marks.add(markKey(scope).pk)),
      change: (name, rule) =>
        run.call('changePerson', () => {
          const changed = rule(this.people.get(name) ?? noOptOuts);
          this.people.set(name, changed.state);
          return changed;
        }),
      list: () => run.call('listPerson', () => undefined),
    };
  }

  anyFor(sender: Sender | undefined): boolean {
    return sender !== undefined && markKeysOf(sender).some(({ pk }) => this.marks.has(pk));
  }

  stoppedAmong(sender: Sender, recipients: readonly Recipient[]): Map<Recipient, OptOutChange> {
    return new Map(
      recipients.flatMap((recipient): [Recipient, OptOutChange][] => {
        const stop = stopFor(this.people.get(nameOf(recipient)) ?? noOptOuts, sender);
        return stop === undefined ? [] : [[recipient, stop]];
      }),
    );
  }
}

export class MemoryInbound implements InboundSink {
  readonly sent: Omit<InboundMessage, 'version'>[] = [];

  async send(messages: readonly Omit<InboundMessage, 'version'>[]): Promise<void> {
    this.sent.push(...messages);
  }
}

/** Tests without opt-outs use it. */
export const noStops: WorkerOptOuts = { stoppedAmong: async () => new Map(), inbound: new MemoryInbound() };
