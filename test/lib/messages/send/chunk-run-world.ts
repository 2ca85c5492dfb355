import {
  type ChunkRecipient,
  type ChunkSlice,
  chunkVersion,
  headOfChunk,
  type QueuedChunk,
} from '../../../../lib/messages/dispatch/chunk.ts';
import { claimed, ended, type Outcome, type Recorded } from '../../../../lib/messages/dispatch/slice.ts';
import { opened } from '../../../../lib/messages/holds/hold.ts';
import { type RunHoldsPorts, runHolds } from '../../../../lib/messages/holds/run-holds.ts';
import type { HoldScope } from '../../../../lib/messages/holds/scope.ts';
import { unknownPace } from '../../../../lib/messages/pace/number-pace.ts';
import { reserve } from '../../../../lib/messages/pace/reserve.ts';
import type { SlotRequest } from '../../../../lib/messages/pace/schedule.ts';
import { type Later, type PlacedChunk, placeChunks } from '../../../../lib/messages/send/place-chunks.ts';
import type { Handover, Posting } from '../../../../lib/messages/send/platform-messages.ts';
import { processBatch } from '../../../../lib/messages/send/process-batch.ts';
import type { LogFacts } from '../../../../lib/observe/log.ts';
import { type FailureFacts, type FailureKind, PlatformFailure } from '../../../../lib/platform/failure.ts';
import type { CallFault } from '../../../pipeline/runs.ts';
import { type FlatPorts, grouped } from '../../../support/flat-ports.ts';
import { MemoryBreaker } from '../../../support/memory-breaker.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { MemoryHolds } from '../../../support/memory-holds.ts';
import { memoryPaces, memoryUrgentCapacity } from '../../../support/memory-numbers.ts';
import { MemoryInbound, MemoryOptOuts } from '../../../support/memory-opt-outs.ts';
import { type Caller, MemoryTable } from '../../../support/messages-table/memory-table.ts';
import { VirtualTime } from '../../../support/virtual-time.ts';

export const startMs = 1_800_000_000_000;
/** The schedule gives out 72 a second, 90 % of 80. */
export const everyMs = 1_000 / 72;

/** Makes recipients from an index on, each a different person. */
export function recipientsFrom(first: number, count: number): ChunkRecipient[] {
  return Array.from({ length: count }, (_, at) => recipientAt(first + at));
}

export function recipientAt(
  index: number,
  { to = String(5_491_100_000_000 + index), ...changes }: Partial<ChunkRecipient> = {},
): ChunkRecipient & { readonly to: string } {
  return { index, to, request: { to, biz_opaque_callback_data: `J-${index}` }, ...changes };
}

/** Makes slices for this many recipients in all, from a position on if given. */
export function slicesOf(count: number, position?: number): ChunkSlice[] {
  return Array.from({ length: Math.ceil(count / 10) }, (_, at) => {
    const size = Math.min(10, count - at * 10);
    const placed = position === undefined ? {} : { position: position + at * 10 };
    return { try: 0, size, recipients: recipientsFrom(at * 10, size), ...placed };
  });
}

export function chunkOf(slices: readonly ChunkSlice[], changes: Partial<QueuedChunk> = {}): QueuedChunk {
  return {
    version: chunkVersion,
    dispatchId: 'J',
    clientId: 1_001,
    wabaId: '200000000000001',
    phoneNumberId: '300000000000001',
    credential: 'main',
    path: 'messages',
    category: 'MARKETING',
    acceptedAtMs: startMs,
    about: { did: '5491100000001', template: { name: 'order_update', language: 'en_US' } },
    limitPerSecond: 80,
    lane: 'dispatch-1',
    slices: [...slices],
    ...changes,
  };
}

export const phoneNumberId = '300000000000001';

/**
 * Surrounds a worker's run of chunks, in memory and virtual time; the platform takes every message unless `send` says
 * otherwise.
 */
export class ChunkRunWorld {
  readonly time = new VirtualTime(startMs);
  readonly paces = memoryPaces();
  readonly table = new MemoryTable();
  readonly breaker = new MemoryBreaker();
  readonly events = new MemoryEvents();
  readonly optOuts = new MemoryOptOuts();
  readonly inbound = new MemoryInbound();
  readonly states = this.table.states;
  readonly holds = new MemoryHolds(() => this.nowMs);
  /** Every call to a store or a queue leaves its name here. */
  readonly calls: string[] = [];
  readonly posted: { readonly index: number; readonly atMs: number }[] = [];
  readonly requeued: Later[] = [];
  readonly postponed: { readonly receiptHandle: string; readonly seconds: number }[] = [];
  readonly logged: { readonly event: string; readonly facts: LogFacts }[] = [];
  /** Returns the fault of a call, by its name. */
  faultOf: (name: string) => CallFault | undefined = () => undefined;
  /** Returns how long a call takes, by its name. */
  latencyOf: (name: string) => number = () => 0;
  send: (posting: Posting, index: number) => Promise<Partial<Handover>> = async () => ({});
  #runs = 0;

  /** Opens a hold on the chunks' WABA, now or at `sinceMs`; its scope is the template by default. */
  hold(scope: HoldScope = 'template:order_update/en_US', code = '132015', sinceMs = this.nowMs): void {
    const { wabaId } = chunkOf([]);
    this.holds.stored.set(wabaId, opened(scope, { code, nowMs: sinceMs })(this.holds.of(wabaId)));
  }

  get nowMs(): number {
    return this.time.nowMs;
  }

  /** Lets time pass while `work` runs. */
  async pass<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const ended = work.finally(() => {
      isOver = true;
    });
    ended.catch(() => undefined);
    await this.time.pass(() => isOver);
    if (!isOver) throw new Error('the work waits for something that never comes');
    return await ended;
  }

  async wait(ms: number): Promise<void> {
    await this.pass(this.time.sleep(ms));
  }

  /** Reserves this many positions as a dispatch's fan-out does, and returns the first. */
  async reserved(count: number, changes: Partial<SlotRequest> & { limitPerSecond?: number } = {}): Promise<number> {
    const wanted = { phoneNumberId, limitPerSecond: 80, clientId: 1_001, lane: 'dispatch-1', count };
    return (await reserve(this.paces, { ...wanted, ...changes }, this.nowMs)).firstPosition;
  }

  async place(chunks: readonly QueuedChunk[], changes: Partial<FlatPorts> = {}): Promise<readonly PlacedChunk[]> {
    return await this.pass(Promise.all(placeChunks(chunks, this.placing(changes))));
  }

  /** Works off deliveries `m0`, `m1` and so on of these chunks, and returns the ids that come again. */
  async work(chunks: readonly (QueuedChunk | string)[], changes: Partial<FlatPorts> = {}): Promise<readonly string[]> {
    return await this.pass(processBatch(deliveriesOf(chunks), grouped(this.ports(changes))));
  }

  /** Works off a chunk, and each requeued chunk at its time. */
  async workAll(chunk: QueuedChunk, changes: Partial<FlatPorts> = {}, mostRuns = 100): Promise<number> {
    let next: QueuedChunk | undefined = chunk;
    let runs = 0;
    for (; next !== undefined && runs < mostRuns; runs += 1) {
      await this.work([next], changes);
      const again = this.requeued.shift();
      if (again !== undefined) await this.wait(again.delaySeconds * 1_000);
      next = again?.chunk;
    }
    return runs;
  }

  /** A receipt proves that the platform took a message of dispatch J. */
  prove(index: number): void {
    this.table.append({ dispatchId: 'J', index, status: 'delivered', atMs: this.nowMs, platformMessageId: 'platform' });
  }

  outcome(index: number, dispatchId = 'J'): Recorded | undefined {
    return this.table.find({ dispatchId, slice: Math.floor(index / 10) })?.outcomes[index % 10];
  }

  outcomes(count: number, dispatchId = 'J'): (string | undefined)[] {
    return Array.from({ length: count }, (_, index) => this.outcome(index, dispatchId)?.state);
  }

  count(name: string): number {
    return this.calls.filter((call) => call === name).length;
  }

  facts(event: string): LogFacts[] {
    return this.logged.filter((line) => line.event === event).map(({ facts }) => facts);
  }

  ports(changes: Partial<FlatPorts> = {}): FlatPorts {
    this.#runs += 1;
    const bornMs = this.nowMs;
    const call = async <T>(name: string, effect: () => T | Promise<T>): Promise<T> => await this.#call(name, effect);
    return {
      isOfSmallRequests: false,
      slices: this.table.ofSlices({ call }),
      unknowns: this.table.ofDoubts({ call }),
      queue: {
        sendLater: (chunk, delaySeconds, to) =>
          call('sendLater', () => void this.requeued.push({ chunk, delaySeconds, to })),
        postpone: (receiptHandle, seconds) =>
          call('postpone', () => void this.postponed.push({ receiptHandle, seconds })),
        hold: async () => undefined,
      },
      paces: {
        find: (number) => call('findPace', () => this.paces.find(number)),
        change: (...change) => call('changePace', () => this.paces.change(...change)) as never,
      },
      urgentCapacity: memoryUrgentCapacity(),
      // A look without the number, as after a claim of fixed slots, counts under another name.
      look: ({ wabaId, phoneNumberId: number, dispatchIds, optOutsOf }) =>
        call(number === undefined ? 'lookAtDispatch' : 'look', () => ({
          pace: this.paces.stored.get(number ?? '') ?? unknownPace,
          holds: this.holds.of(wabaId),
          dispatches: this.table.statesOf(dispatchIds),
          anyStops: this.optOuts.anyFor(optOutsOf),
        })),
      people: {
        stoppedAmong: (sender, recipients) => call('stoppedAmong', () => this.optOuts.stoppedAmong(sender, recipients)),
        inbound: { send: (messages) => call('sendInbound', () => this.inbound.send(messages)) },
      },
      beginStraight: (chunk) => call('beginStraight', () => void this.table.begin(headOfChunk(chunk))),
      newHolds: () => runHolds(this.holdsPorts(call)),
      events: { send: (events) => call('sendEvents', () => this.events.send(events)) },
      ready: async () => undefined,
      send: async (posting) => {
        const index = Number(String(posting.request['biz_opaque_callback_data']).split('-').at(-1));
        this.posted.push({ index, atMs: this.nowMs });
        return { platformMessageId: `platform-${index}`, ...(await this.send(posting, index)) };
      },
      breakers: this.breaker,
      probe: async () => ({ maySend: true }),
      invocation: `run-${this.#runs}`,
      nowMs: () => this.nowMs,
      remainingMs: () => bornMs + 60_000 - this.nowMs,
      random: () => 0,
      pause: async (ms) => await this.time.sleep(ms),
      log: (event, facts) => void this.logged.push({ event, facts }),
      ...changes,
    };
  }

  /** Returns the ports of a run that placing needs. */
  placing(changes: Partial<FlatPorts> = {}) {
    const ports = this.ports(changes);
    return { ...ports, ...grouped(ports) };
  }

  holdsPorts(call: Caller['call']): RunHoldsPorts {
    return {
      states: this.table.ofStates({ call }),
      wabas: {
        change: (wabaId, rule) => call('changeHolds', () => this.holds.change(wabaId, rule)),
        takeProbe: (wabaId, message) => call('askHolds', () => this.holds.takeProbe(wabaId, message)),
      },
      watchParked: () => call('watch', () => undefined),
      nowMs: () => this.nowMs,
      log: (event, facts) => void this.logged.push({ event, facts }),
    };
  }

  async #call<T>(name: string, effect: () => T | Promise<T>): Promise<T> {
    const latencyMs = this.latencyOf(name);
    if (latencyMs > 0) await this.time.sleep(latencyMs);
    this.calls.push(name);
    const fault = this.faultOf(name);
    if (fault === 'fails') throw new Error(`${name} is away`);
    const value = await effect();
    if (fault === 'reply_lost') throw new Error(`${name} was not answered`);
    return value;
  }
}

export function deliveriesOf(chunks: readonly (QueuedChunk | string)[]) {
  return chunks.map((chunk, at) => ({
    messageId: `m${at}`,
    receiptHandle: `receipt of m${at}`,
    body: typeof chunk === 'string' ? chunk : JSON.stringify(chunk),
  }));
}

export function failingWith(kind: FailureKind, facts: FailureFacts = {}): ChunkRunWorld['send'] {
  return async () => {
    throw new PlatformFailure(kind, facts);
  };
}

export function chunkOfOne(recipient: Partial<ChunkRecipient> = {}, changes: Partial<QueuedChunk> = {}): QueuedChunk {
  return chunkOf([{ try: 0, size: 1, recipients: [recipientAt(0, recipient)] }], changes);
}

const key = { dispatchId: 'J', slice: 0 };

/** Another run claims the slice first. */
export function claimedBefore(world: ChunkRunWorld, outcomes?: ReadonlyMap<number, Outcome>, size = 1) {
  const own = claimed(undefined, { key, try: 0, owner: 'other/0', atMs: world.nowMs, size });
  world.table.slices.set('J 0', outcomes === undefined ? own : ended(own, outcomes));
}
