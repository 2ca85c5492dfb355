import type { Claims, Delivery, DispatchPorts } from '../../lib/messages/dispatch/dispatch-ports.ts';
import type { DispatchMessage, JobHead } from '../../lib/messages/job.ts';
import type { RecordPorts } from '../../lib/messages/receipts/record-ports.ts';
import type { LogFacts } from '../../lib/observe/log.ts';
import { defaultEventTypes } from '../../lib/webhooks/event.ts';
import { applyOp, emptyStore, type StoreState } from '../faults/model-store.ts';
import type { OpName } from '../faults/stepped-run.ts';
import { idlePaces } from './idle-paces.ts';
import { MemoryEvents } from './memory-events.ts';

export interface RequeuedCopy {
  readonly message: DispatchMessage;
  readonly delaySeconds: number;
}

/** Everything around the dispatch policy, in memory, with a clock that only the test moves. */
export class DispatchWorld {
  nowMs = 1_800_000_000_000;
  store: StoreState = emptyStore;
  readonly storeCalls: string[] = [];
  readonly events = new MemoryEvents();
  readonly copies: RequeuedCopy[] = [];
  readonly postponed: { readonly receiptHandle: string; readonly seconds: number }[] = [];
  readonly posted: DispatchMessage[] = [];
  readonly logged: { readonly event: string; readonly facts: LogFacts }[] = [];
  private runs = 0;

  /** What the line of each batch sums up. */
  tallied(): LogFacts['tally'][] {
    return this.logged.filter(({ event }) => event === 'dispatch.batch').map(({ facts }) => facts.tally);
  }

  readonly claims: Claims = {
    take: async (...args) => this.call('take', args) as never,
    release: async (...args) => this.call('release', args) as never,
    settle: async (...args) => this.call('settle', args) as never,
    findBatchRecord: async (...args) => this.call('findBatchRecord', args) as never,
    recordBatch: async (...args) => this.call('recordBatch', args) as never,
  };

  readonly doubts: DispatchPorts['doubts'] = {
    mark: async (...args) => this.call('mark', args) as never,
    hasReceipt: async (...args) => this.call('hasReceipt', args) as never,
  };

  /** The ports of a new run; every message is accepted unless `changes` says otherwise. */
  ports(changes: Partial<DispatchPorts> = {}): DispatchPorts {
    this.runs += 1;
    return {
      ...idlePaces,
      claims: this.claims,
      doubts: this.doubts,
      events: this.events,
      queue: {
        sendLater: async (message, delaySeconds) => void this.copies.push({ message, delaySeconds }),
        hold: async () => undefined,
        postpone: async (receiptHandle, seconds) => void this.postponed.push({ receiptHandle, seconds }),
      },
      send: async (message) => {
        this.posted.push(message);
        return { platformMessageId: `platform-${message.index}` };
      },
      invocation: `run-${this.runs}`,
      nowMs: () => this.nowMs,
      remainingMs: () => 60_000,
      random: () => 0,
      pause: async () => undefined,
      log: (event, facts) => void this.logged.push({ event, facts }),
      ...changes,
    };
  }

  /** The ports of a run of receipts about the jobs of these heads; everybody is told what is told by default. */
  receiptPorts(heads: readonly JobHead[], changes: Partial<RecordPorts> = {}): RecordPorts {
    const listed = async (name: OpName, args: unknown[]) => this.call(name, args) as never;
    return {
      records: {
        findHeads: async (jobIds) =>
          new Map(heads.filter(({ jobId }) => jobIds.includes(jobId)).map((head) => [head.jobId, head])),
        append: async (...args) => this.call('append', args) as never,
        doubtfulJobs: async (...args) => new Set(await listed('doubtfulJobs', args)),
        ofGroup: async (...args) => this.call('ofGroup', args) as never,
      },
      claims: {
        take: this.claims.take,
        findClaims: async (...args) => new Map(await listed('findClaims', args)),
        findBatchRecords: async (...args) => new Map(await listed('findBatchRecords', args)),
        settleSeen: async (...args) => this.call('settleSeen', args) as never,
      },
      wanted: async () => defaultEventTypes,
      events: this.events,
      nowMs: () => this.nowMs,
      remainingMs: () => 60_000,
      log: (event, facts) => void this.logged.push({ event, facts }),
      ...changes,
    };
  }

  private call(name: OpName, args: unknown[]): unknown {
    this.storeCalls.push(name);
    const { store, value } = applyOp(this.store, { id: 0, name, args });
    this.store = store;
    return value;
  }
}

export function deliveryOf(body: unknown, messageId = 'message-0'): Delivery {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { messageId, receiptHandle: `receipt of ${messageId}`, body: text };
}
