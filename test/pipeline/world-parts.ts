import type { WholeJob } from '../../lib/messages/accept/whole-job.ts';
import type { LogEvent, LogFacts } from '../../lib/observe/log.ts';
import type { Scope } from '../../lib/opt-outs/scope.ts';
import type { ServiceEvent } from '../../lib/webhooks/event.ts';
import { MemoryBreaker } from '../support/memory-breaker.ts';
import { MemoryHolds } from '../support/memory-holds.ts';
import { MemoryNumbers } from '../support/memory-numbers.ts';
import { MemoryOptOuts } from '../support/memory-opt-outs.ts';
import { MemoryTable } from '../support/messages-table/memory-table.ts';
import { VirtualTime } from '../support/virtual-time.ts';
import { Meter } from './meter.ts';
import { type Addressed, type Fate, PlatformModel } from './platform-model.ts';
import { QueueModel } from './queue-model.ts';
import { type CallFault, Run } from './runs.ts';
import { memoryStores, type WorldStores } from './world-stores.ts';

export interface WorldRules {
  readonly random: () => number;
  readonly limitPerSecond: number;
  readonly answerMs: () => number;
  readonly latencyMs: () => number;
  readonly faultOf: (name: string) => CallFault | undefined;
  readonly fateOf: (post: Addressed) => Fate;
  /** Of reads; as messages when left out. */
  readonly readFateOf?: () => Fate;
  /** How long a run lives, in ms; undefined: as long as its function may. */
  readonly lifeMs: (functionName: string) => number | undefined;
  /** What the platform tells of a message that it took, each with the delay after which it comes. */
  readonly receiptsOf: (post: Addressed) => readonly ToldOf[];
  /** What a read of the platform says of the template; left out: that it is approved. */
  readonly templateStatus?: () => string;
  readonly delayJitterMs: number;
  readonly repeatShare: number;
  readonly clockSkewMs: () => number;
  readonly workers: number;
  /** So long after a small request is there, one worker looks for what is there; left out: each idle one gets a request at once. */
  readonly gatherMs?: number;
  /** Hears what the runs of a function log. */
  readonly log?: (functionName: string, event: LogEvent, facts: LogFacts) => void;
}

/** What the platform tells of a message that it took; `code`: why it refuses it after all. */
export interface ToldOf {
  readonly status: string;
  readonly afterMs: number;
  readonly code?: string;
}

/** When every world begins. */
export const startMs = 1_800_000_000_000;

export type QueueName = 'jobs' | 'dispatch' | 'small' | 'receipts' | 'watches' | 'inbound';

/** A stop that a person has said, and the moment from which it was stored; undefined while that is not confirmed. */
export interface SaidStop {
  readonly scope: Scope;
  readonly recipient: string;
  storedAt: number | undefined;
}

/** What a client is told of its request: of a refused one that nothing is sent, of an undecided one that it is not known. */
export type Answer = 'accepted' | 'refused' | 'undecided';

/** What the runs of a world share: its clock, its stores, its queues, its platform, and what came of them. */
export class WorldParts {
  readonly time = new VirtualTime(startMs);
  readonly table = new MemoryTable();
  readonly numbers: MemoryNumbers;
  readonly breaker = new MemoryBreaker();
  readonly holds = new MemoryHolds(() => this.time.nowMs);
  readonly optOuts = new MemoryOptOuts();
  /** The moment of the last claim of a slice, by job and number. */
  readonly claimedAt = new Map<string, number>();
  /** Calls of the platform that were begun, and the moment of the claim that allows them. */
  readonly calls: { readonly dispatchId: string; readonly claimedAt: number; readonly atMs: number }[] = [];
  readonly stops: SaidStop[] = [];
  readonly platform: PlatformModel;
  readonly told = new Map<string, ServiceEvent>();
  readonly accepted: { readonly dispatchId: string; readonly job: WholeJob }[] = [];
  /** What their clients were told, by job id; of an acceptance that dies nothing. */
  readonly answers = new Map<string, Answer>();
  readonly logged = new Map<string, number>();
  readonly meter = new Meter();
  readonly rules: WorldRules;
  readonly stores: WorldStores;
  readonly queues: Readonly<Record<QueueName, QueueModel>>;

  /** `storesOf`: where not all of the table is in memory. */
  constructor(rules: WorldRules, storesOf?: (time: VirtualTime) => WorldStores) {
    this.rules = rules;
    this.numbers = new MemoryNumbers(rules.random);
    this.stores = storesOf?.(this.time) ?? memoryStores(this);
    const { random, delayJitterMs, repeatShare } = rules;
    const queue = (visibilityMs: number) =>
      new QueueModel(this.time, { visibilityMs, maxReceiveCount: 5, delayJitterMs, repeatShare }, random);
    this.queues = {
      jobs: queue(1_800_000),
      dispatch: queue(360_000),
      small: queue(360_000),
      receipts: queue(720_000),
      watches: queue(720_000),
      inbound: queue(360_000),
    };
    this.platform = new PlatformModel(this.time, {
      limitPerSecond: () => rules.limitPerSecond,
      answerMs: rules.answerMs,
      fateOf: rules.fateOf,
      readFateOf: rules.readFateOf ?? (() => rules.fateOf({ dispatchId: '', phoneNumberId: '' })),
    });
  }

  #moments = 0;

  /** Later than every moment that was told before: of one millisecond there are many. */
  moment(): number {
    this.#moments += 1;
    return this.#moments;
  }

  newRun(): Run {
    const { latencyMs, faultOf } = this.rules;
    return new Run(this.time, { latencyMs, faultOf, count: (name, bytes) => this.meter.count(name, bytes) });
  }
}
