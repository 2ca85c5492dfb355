import type { WholeDispatch } from '../../lib/messages/dispatch/whole-dispatch.ts';
import type { SenderPorts } from '../../lib/messages/sender/sender-ports.ts';
import type { LogEvent, LogFacts } from '../../lib/observe/log.ts';
import type { Scope } from '../../lib/opt-outs/scope.ts';
import type { ServiceEvent } from '../../lib/webhooks/event.ts';
import { MemoryBreaker } from '../support/memory-breaker.ts';
import { MemoryHolds } from '../support/memory-holds.ts';
import { MemoryOptOuts } from '../support/memory-opt-outs.ts';
import { MemoryPaces } from '../support/memory-paces.ts';
import { MemoryPlaces } from '../support/memory-places.ts';
import { MemoryBacklog } from '../support/messages-table/memory-backlog.ts';
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
  readonly latencyMs: (name: string) => number;
  readonly faultOf: (name: string) => CallFault | undefined;
  readonly fateOf: (post: Addressed) => Fate;
  /** Reads meet the same as messages when this is left out. */
  readonly readFateOf?: () => Fate;
  /** Returns how long a run lives, in ms; undefined: as long as its function may. */
  readonly lifeMs: (functionName: string) => number | undefined;
  /** Returns the platform's receipts for a message, each with its delay. */
  readonly receiptsOf: (post: Addressed) => readonly ToldOf[];
  /** Returns the template's status at the platform; approved when left out. */
  readonly templateStatus?: () => string;
  readonly delayJitterMs: number;
  readonly repeatShare: number;
  readonly clockSkewMs: () => number;
  readonly workers: number;
  /** How functions start; when left out, all workers are there and warm. */
  readonly starts?: Starts;
  /** Judges a dispatch by its template; nothing has changed when left out. */
  readonly judge?: SenderPorts['judge'];
  /** Nothing is too expensive when left out. */
  readonly costStop?: SenderPorts['costStop'];
  /**
   * A worker gathers for so long after the first small request; when left out, each idle worker gets one request at
   * once.
   */
  readonly gatherMs?: number;
  /** Is called for each log line of a function's runs. */
  readonly log?: (functionName: string, event: LogEvent, facts: LogFacts) => void;
}

/** Lambda polls a queue with few workers at first, and adds more while messages wait; each new one starts cold. */
export interface Starts {
  readonly firstWorkers: number;
  readonly addedEachMinute: number;
  /** Importing a function takes so long, before its first run in a process. */
  readonly coldMs: number;
}

/** A whole processor has this memory; a function with less has a share of it. */
const memoryOfProcessorMb = 1_769;

/** As AWS documents it for standard queues: five workers at first, and 300 more a minute. */
export function startsOf(memoryMb: number, importProcessorMs: number): Starts {
  const coldMs = (importProcessorMs * memoryOfProcessorMb) / memoryMb;
  return { firstWorkers: 5, addedEachMinute: 300, coldMs };
}

/** The platform sends this receipt for a message that it took; `code` is the reason of a later refusal. */
export interface ToldOf {
  readonly status: string;
  readonly afterMs: number;
  readonly code?: string;
}

/** Every world begins at this time. */
export const startMs = 1_800_000_000_000;

export type QueueName = 'dispatch' | 'small' | 'receipts' | 'inbound';

/** A person has said this stop. `storedAt` is undefined until a store has confirmed it. */
export interface SaidStop {
  readonly scope: Scope;
  readonly recipient: string;
  storedAt: number | undefined;
}

/** The client's answer: nothing of a refused request is sent; of an undecided one the client does not know. */
export type Answer = 'accepted' | 'refused' | 'undecided';

/** The runs of a world share its clock, stores, queues, platform and results. */
export class WorldParts {
  readonly time = new VirtualTime(startMs);
  readonly table = new MemoryTable();
  readonly backlog = new MemoryBacklog();
  readonly paces = new MemoryPaces();
  readonly places = new MemoryPlaces();
  readonly breaker = new MemoryBreaker();
  readonly holds = new MemoryHolds(() => this.time.nowMs);
  readonly optOuts = new MemoryOptOuts();
  /** Each slice keeps the moment of its last claim, by dispatch and number. */
  readonly claimedAt = new Map<string, number>();
  /** Each call that was begun keeps the moment of the claim that allows it. */
  readonly calls: { readonly messageId: string; readonly claimedAt: number; readonly atMs: number }[] = [];
  readonly stops: SaidStop[] = [];
  /** The operator has erased these messages' recipients at this moment (D60). */
  readonly erasures = new Map<string, number>();
  readonly platform: PlatformModel;
  readonly told = new Map<string, ServiceEvent>();
  /** So many events were told once more. */
  toldAgain = 0;
  /** All that was accepted, also what was refused afterwards, by id. */
  readonly dispatches = new Map<string, WholeDispatch>();
  readonly accepted: { readonly messageId: string; readonly dispatch: WholeDispatch }[] = [];
  /** An acceptance that dies gives its client no answer. */
  readonly answers = new Map<string, Answer>();
  readonly logged = new Map<string, number>();
  readonly meter = new Meter();
  readonly rules: WorldRules;
  readonly stores: WorldStores;
  readonly queues: Readonly<Record<QueueName, QueueModel>>;

  /** `storesOf` replaces stores where a part of the table is not in memory. */
  constructor(rules: WorldRules, storesOf?: (time: VirtualTime) => WorldStores) {
    this.rules = rules;
    this.stores = storesOf?.(this.time) ?? memoryStores(this);
    const { random, delayJitterMs, repeatShare } = rules;
    const queue = (visibilityMs: number) =>
      new QueueModel(this.time, { visibilityMs, maxReceiveCount: 5, delayJitterMs, repeatShare }, random);
    this.queues = {
      dispatch: queue(720_000),
      small: queue(360_000),
      receipts: queue(720_000),
      inbound: queue(360_000),
    };
    this.platform = new PlatformModel(this.time, {
      limitPerSecond: () => rules.limitPerSecond,
      answerMs: rules.answerMs,
      fateOf: rules.fateOf,
      readFateOf: rules.readFateOf ?? (() => rules.fateOf({ messageId: '', phoneNumberId: '' })),
    });
  }

  #moments = 0;

  /** Returns a moment later than all before, because one millisecond has many. */
  moment(): number {
    this.#moments += 1;
    return this.#moments;
  }

  newRun(): Run {
    const { latencyMs, faultOf } = this.rules;
    return new Run(this.time, { latencyMs, faultOf, count: (name, bytes) => this.meter.count(name, bytes) });
  }
}
