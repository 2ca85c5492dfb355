import { newEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import { type DispatchHead, messageIdOf, type StoredRecipient } from '../../../../lib/messages/dispatch/head.ts';
import type { Lot } from '../../../../lib/messages/dispatch/lots.ts';
import { claimed, type Outcome, type Recorded, sliceSize } from '../../../../lib/messages/dispatch/slice.ts';
import { type HoldRule, opened } from '../../../../lib/messages/holds/hold.ts';
import { runHolds } from '../../../../lib/messages/holds/run-holds.ts';
import type { HoldScope } from '../../../../lib/messages/holds/scope.ts';
import { composeMessage } from '../../../../lib/messages/request/compose.ts';
import type { Handover, Posting } from '../../../../lib/messages/send/platform-messages.ts';
import { DispatchInHand } from '../../../../lib/messages/sender/dispatch-in-hand.ts';
import { NumberView } from '../../../../lib/messages/sender/number-view.ts';
import { asAccepted, type Revalidation } from '../../../../lib/messages/sender/revalidate-dispatch.ts';
import { seenHolds } from '../../../../lib/messages/sender/seen-holds.ts';
import type { SenderPorts } from '../../../../lib/messages/sender/sender-ports.ts';
import { type SliceOutcome, SliceStarter } from '../../../../lib/messages/sender/slice-starter.ts';
import { Turns } from '../../../../lib/messages/sender/turns.ts';
import type { LogFacts } from '../../../../lib/observe/log.ts';
import { type FailureFacts, type FailureKind, PlatformFailure } from '../../../../lib/platform/failure.ts';
import { makeDispatch } from '../../../support/made-dispatches.ts';
import { MemoryBreaker } from '../../../support/memory-breaker.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { MemoryHolds } from '../../../support/memory-holds.ts';
import { MemoryInbound, MemoryOptOuts } from '../../../support/memory-opt-outs.ts';
import { MemoryPaces } from '../../../support/memory-paces.ts';
import { MemoryTable } from '../../../support/messages-table/memory-table.ts';
import { noCosts } from '../../../support/no-costs.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';
import { VirtualTime } from '../../../support/virtual-time.ts';

export { startMs };

/** A run of a sender lives so long, and its last call begins so long before. */
const lifeMs = 120_000;
const lastCallBeforeEndMs = 15_000;

const head: DispatchHead = { ...scenarioHead, dispatchId: 'J' };
export const { clientId, wabaId, phoneNumberId } = head;
export const templateScope: HoldScope = `template:${head.templateName}/${head.templateLanguage}`;

export const numberAt = (index: number) => String(5_491_100_000_000 + index);

type Sendable = Extract<Revalidation, { readonly kind: 'sendable' }>;

interface Accepted extends Partial<DispatchHead> {
  /** Takes the place of a recipient, by index. */
  readonly recipients?: Readonly<Record<number, StoredRecipient>>;
  readonly lots?: readonly Lot[];
}

type CallFault = 'fails' | 'reply_lost' | undefined;

const unused = async () => Promise.reject(new Error('not in this world'));

/** The slices of dispatches, as runs of a sender work them off, in memory and virtual time. */
export class SliceRunWorld {
  readonly time = new VirtualTime(startMs);
  readonly table = new MemoryTable();
  readonly paces = new MemoryPaces();
  readonly breaker = new MemoryBreaker();
  readonly events = new MemoryEvents();
  readonly optOuts = new MemoryOptOuts();
  readonly inbound = new MemoryInbound();
  readonly states = this.table.states;
  readonly holds = new MemoryHolds(() => this.nowMs);
  /** Every call to a store or a queue leaves its name here. */
  readonly calls: string[] = [];
  readonly posted: { readonly id: string; readonly index: number; readonly atMs: number }[] = [];
  readonly logged: { readonly event: string; readonly facts: LogFacts }[] = [];
  faultOf: (name: string) => CallFault = () => undefined;
  latencyOf: (name: string) => number = () => 0;
  send: (posting: Posting, index: number) => Promise<Partial<Handover>> = async () => ({});
  probe: SenderPorts['platform']['probe'] = async () => ({ maySend: true });
  judged: Partial<Sendable> = {};
  limitPerSecond = 80;
  changes: Partial<SenderPorts> = {};
  log: SenderPorts['process']['log'] = (event, facts) => void this.logged.push({ event, facts });
  remainingMs: ((bornMs: number) => number) | undefined;
  #runs = 0;

  get nowMs(): number {
    return this.time.nowMs;
  }

  /** A dispatch to so many people has begun. */
  accept(size: number, { recipients = {}, lots, ...changes }: Accepted = {}): void {
    const all = Array.from({ length: size }, (_, at) => recipients[at] ?? recipientOf(numberAt(at)));
    const dispatch = makeDispatch(all as never, { ...head, total: size, ...changes });
    this.table.store({ ...dispatch, lots });
    this.table.begin(dispatch.head);
  }

  /** A run of a sender tries each slice of a dispatch that is due, once. Returns what became of each try. */
  async run(dispatchId = 'J'): Promise<SliceOutcome[]> {
    return await this.pass(this.runBeside(dispatchId));
  }

  /** Runs work off a dispatch until nothing of it is left. */
  async runAll(dispatchId = 'J', mostRuns = 200): Promise<void> {
    for (let runs = 0; runs < mostRuns; runs += 1) {
      await this.run(dispatchId);
      const outcomes = this.#slicesOf(dispatchId).flatMap((slice) => slice.outcomes);
      const duesMs = outcomes.flatMap((outcome) => (outcome?.state === 'again' ? [outcome.dueMs] : []));
      if (duesMs.length === 0) return;
      await this.wait(Math.min(...duesMs) - this.nowMs);
    }
  }

  #slicesOf(dispatchId: string) {
    return [...this.table.slices.values()].filter(({ key }) => key.dispatchId === dispatchId);
  }

  /** Makes such a run while others let time pass. */
  async runBeside(dispatchId = 'J'): Promise<SliceOutcome[]> {
    this.#runs += 1;
    const ports = this.ports();
    const number = new NumberView(ports.paces);
    number.breaker = await ports.holds.breakers.find().catch(() => undefined);
    number.limitPerSecond = this.limitPerSecond;
    number.pace = this.paces.of(phoneNumberId);
    const { nowMs, pause, remainingMs, invocation } = ports.process;
    const lastCallMs = this.nowMs + remainingMs() - lastCallBeforeEndMs;
    const everyMs = () => number.everyMs(nowMs(), 1);
    const turns = new Turns({ nowMs, pause, everyMs, lastMs: lastCallMs });
    let changed = Promise.withResolvers<void>();
    const signal = () => {
      changed.resolve();
      changed = Promise.withResolvers();
    };
    const starter = new SliceStarter(
      { invocation, turns, number, lastCallMs, mayClaim: () => true, ports },
      everyMs,
      signal,
    );
    const hand = await this.handOf(dispatchId);
    const outcomes: SliceOutcome[] = [];
    const tried = new Set<number>();
    const isOwn = (owner: string) => owner.startsWith(`${invocation}/`);
    for (;;) {
      const open = starter.mayStart(false) ? hand.take(nowMs()) : undefined;
      if (open === undefined || tried.has(open.slice)) {
        if (!starter.isBusy) return outcomes;
        await changed.promise;
      } else {
        tried.add(open.slice);
        const size = hand.indexesOf(open).length;
        starter.start({ hand, open, size, isFront: false }, (outcome) => {
          outcomes.push(outcome);
          if (outcome.kind === 'run') hand.ended(open, outcome.end, { ...outcome, nowMs: nowMs() });
          else hand.giveBack(open);
          // What an earlier run has ended is met first.
          const isMet = outcome.kind === 'run' && outcome.end.kind === 'ended' && !isOwn(outcome.end.slice.owner);
          if (isMet) tried.delete(open.slice);
          signal();
        });
      }
    }
  }

  /** Returns a dispatch as a new run takes it in hand. */
  async handOf(dispatchId: string): Promise<DispatchInHand> {
    const dispatch = await this.table.ofStored(this.#caller).find(dispatchId);
    if (dispatch === undefined) throw new Error('no such dispatch');
    const slices = this.#slicesOf(dispatchId);
    const { pk: _pk, sk: _sk, ...entry } = newEntry(dispatch.head);
    const state = this.states.get(dispatchId) ?? {};
    const judged = { ...(asAccepted(dispatch) as Sendable), ...this.judged };
    const part = { part: 0, of: 1 };
    return new DispatchInHand(entry, { dispatch, state, slices }, judged, {
      ...{ part, before: { floor: 0 }, limitPerSecond: this.limitPerSecond, nowMs: this.nowMs },
    });
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

  /** Opens a hold, now or at `sinceMs`; its scope is the template by default. */
  hold(scope = templateScope, code = '132015', sinceMs = this.nowMs): void {
    this.rule(opened(scope, { code, nowMs: sinceMs }));
  }

  rule(next: HoldRule): void {
    this.holds.stored.set(wabaId, next(this.holds.of(wabaId)));
  }

  /** Another run has claimed the first slice now, and perhaps ended its try. */
  claimedBefore(size: number, outcomes?: readonly Outcome[]): void {
    const own = claimed(undefined, {
      key: { dispatchId: 'J', slice: 0 },
      try: 0,
      owner: 'other',
      atMs: this.nowMs,
      size,
    });
    this.table.put(outcomes === undefined ? own : { ...own, version: own.version + 1, state: 'ended', outcomes });
  }

  /** A receipt proves that the platform took a message of dispatch J. */
  prove(index: number): void {
    this.table.append({ dispatchId: 'J', index, status: 'delivered', atMs: this.nowMs, platformMessageId: 'platform' });
  }

  outcome(index: number, dispatchId = 'J'): Recorded | undefined {
    return this.table.find({ dispatchId, slice: Math.floor(index / sliceSize) })?.outcomes[index % sliceSize];
  }

  /** Returns the states, or the codes of those that failed. */
  outcomes(count: number, dispatchId = 'J'): (string | undefined)[] {
    return Array.from({ length: count }, (_, index) => {
      const outcome = this.outcome(index, dispatchId);
      return outcome?.state === 'failed' ? outcome.code : outcome?.state;
    });
  }

  count(name: string): number {
    return this.calls.filter((call) => call === name).length;
  }

  facts(event: string): LogFacts[] {
    return this.logged.filter((line) => line.event === event).map(({ facts }) => facts);
  }

  readonly #caller = { call: <T>(name: string, effect: () => T | Promise<T>) => this.#call(name, effect) };

  ports(): SenderPorts {
    const run = this.#caller;
    const { call } = run;
    const bornMs = this.nowMs;
    const states = this.table.ofStates(run);
    const wabas = {
      change: (waba: string, rule: HoldRule) => call('changeHolds', () => this.holds.change(waba, rule)),
      takeProbe: (...asked: Parameters<MemoryHolds['takeProbe']>) =>
        call('askHolds', () => this.holds.takeProbe(...asked)),
    };
    const nowMs = () => this.nowMs;
    const { log } = this;
    return {
      slices: this.table.ofSlices(run),
      unknowns: this.table.ofDoubts(run),
      states,
      paces: this.paces.ofRun(run),
      people: {
        stoppedAmong: (sender, recipients) => call('stoppedAmong', () => this.optOuts.stoppedAmong(sender, recipients)),
        inbound: { send: (messages) => call('sendInbound', () => this.inbound.send(messages)) },
      },
      events: { send: (events) => call('sendEvents', () => this.events.send(events)) },
      noteSent: async () => undefined,
      compose: composeMessage,
      holds: {
        breakers: this.breaker,
        ofSlice: (saw) => runHolds({ states, wabas: seenHolds(wabas, saw), nowMs, log }),
        askTemplate: unused,
      },
      platform: {
        ready: async () => undefined,
        probe: (number) => this.probe(number),
        send: async (posting) => {
          const id = String(posting.request['biz_opaque_callback_data']);
          const index = Number(id.split('-').at(-1));
          this.posted.push({ id, index, atMs: this.nowMs });
          return { platformMessageId: `platform-${index}`, ...(await this.send(posting, index)) };
        },
      },
      dispatches: {
        ...{ find: unused, slicesFrom: unused, withdraw: unused, reckon: unused, list: unused },
        recipientsFrom: (dispatchId, first) => this.table.ofStored(run).recipientsFrom(dispatchId, first),
        look: ({ wabaId: waba, dispatchIds, optOutsOf }) =>
          call('look', () => ({
            holds: this.holds.of(waba),
            dispatches: this.table.statesOf(dispatchIds),
            anyStops: this.optOuts.anyFor(optOutsOf),
          })),
      },
      process: {
        ...{ invocation: `run-${this.#runs}`, random: () => 0, nowMs, log },
        remainingMs: () => this.remainingMs?.(bornMs) ?? bornMs + lifeMs - this.nowMs,
        pause: async (ms) => await this.time.sleep(ms),
      },
      ...{ statesOf: unused as never, backlog: { of: unused, change: unused, remove: unused }, wake: unused },
      ...{ places: { close: unused }, limitOf: unused, judge: unused, ...noCosts, tellEnd: unused },
      ...this.changes,
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

export function recipientOf(to: string): StoredRecipient & { readonly to: string } {
  return { to, params: { buttons: ['order'] } };
}

export const idOf = (index: number) => messageIdOf({ dispatchId: 'J', index });

export function failingWith(kind: FailureKind, facts: FailureFacts = {}): SliceRunWorld['send'] {
  return async () => {
    throw new PlatformFailure(kind, facts);
  };
}

/** Returns a world in which a dispatch to so many people has begun. */
export function worldOf(size = 1, accepted: Accepted = {}): SliceRunWorld {
  const world = new SliceRunWorld();
  world.accept(size, accepted);
  return world;
}
