import { queueBody } from '../../lib/aws/queue-body.ts';
import { laterThanMs, undecidedMs } from '../../lib/messages/dispatch/backlog.ts';
import { aboutDispatch } from '../../lib/messages/dispatch/head.ts';
import type { DispatchItemState } from '../../lib/messages/dispatch/item.ts';
import { standingIn, stateOf } from '../../lib/messages/dispatch/item.ts';
import { dispatchWrites } from '../../lib/messages/dispatch/item-writes.ts';
import { sliceOf } from '../../lib/messages/dispatch/slice.ts';
import type { WholeDispatch } from '../../lib/messages/dispatch/whole-dispatch.ts';
import { asAccepted } from '../../lib/messages/fan-out/revalidate-dispatch.ts';
import { probeTimeoutMs } from '../../lib/messages/holds/breaker.ts';
import { runHolds } from '../../lib/messages/holds/run-holds.ts';
import { outcomeOf } from '../../lib/messages/report/outcome.ts';
import { composeMessage } from '../../lib/messages/request/compose.ts';
import { completedEvent } from '../../lib/messages/send/completed-event.ts';
import { wakeMsOf } from '../../lib/messages/sender/held-until.ts';
import { sendersOf } from '../../lib/messages/sender/number-parts.ts';
import { seenHolds } from '../../lib/messages/sender/seen-holds.ts';
import { runSender } from '../../lib/messages/sender/sender.ts';
import type { SenderPorts } from '../../lib/messages/sender/sender-ports.ts';
import { firstParkedLookSeconds, parkedWatchOf } from '../../lib/messages/watch/watch-message.ts';
import { MemoryPlaces } from '../support/memory-places.ts';
import { written } from '../support/messages-table/dispatch-item.ts';
import { MemoryBacklog } from '../support/messages-table/memory-backlog.ts';
import { noCosts } from '../support/no-costs.ts';
import type { Run } from './runs.ts';
import { PipelineWorld } from './world.ts';
import {
  type Consumer,
  consumersOf,
  inboundSink,
  noteCall,
  noted,
  post,
  type RunClock,
  shared,
} from './world-consumers.ts';
import type { Answer } from './world-parts.ts';

interface Wake {
  readonly phoneNumberId: string;
  readonly part: number;
}

/** A world in which each number has one sender: wakes take the place of chunks. Every dispatch enters the backlog. */
export class SenderWorld extends PipelineWorld {
  readonly backlog = new MemoryBacklog();
  readonly places = new MemoryPlaces();
  #lastSweepMs = 0;

  protected override consumers(): Consumer[] {
    const others = consumersOf(this).filter(({ name }) => !['fan-out', 'dispatch', 'small'].includes(name));
    void this.#sweepEachMinute();
    const { workers } = this.rules;
    const wakes = { queue: this.queues.dispatch, workers, batchSize: 1, timeoutMs: 120_000 };
    return [...others, { name: 'sender', ...wakes, handle: this.#sender() }];
  }

  /** Wakes need no dead letters: the sweeper finds what is due. */
  override get deadLetters(): number {
    return super.deadLetters - this.queues.dispatch.deadLetters.length;
  }

  protected override get isEmpty(): boolean {
    const lastWake = this.time.nowMs - this.#lastSweepMs;
    return super.isEmpty && this.backlog.entries.size === 0 && lastWake < 120_000;
  }

  protected override async accepting({ head, ...rest }: WholeDispatch, run: Run): Promise<Answer> {
    const dispatch = { head, ...rest };
    const begin = () => run.call('beginAccepted', () => this.table.begin(head));
    try {
      await run.call('store', () => this.table.store(dispatch));
      await run.call('enter', () => this.backlog.enter(head));
    } catch {
      return 'refused';
    }
    try {
      if ((await begin().catch(begin)) === 'withdrawn') return 'refused';
    } catch {
      try {
        const { withdraw } = this.table.ofAcceptance(run);
        if ((await withdraw(head.dispatchId)) === 'withdrawn') return 'refused';
      } catch {
        return 'undecided';
      }
    }
    if ((head.when?.fromMs ?? 0) <= this.time.nowMs) {
      await run
        .call('wakeSender', () => this.#wake({ phoneNumberId: head.phoneNumberId, part: 0 }, 0))
        .catch(() => undefined);
    }
    return 'accepted';
  }

  /** As a cancellation: the entry gets the news after the stop, and a wake is sent. */
  override async dispatchStands(id: string, state: DispatchItemState | undefined, afterMs: number): Promise<void> {
    await super.dispatchStands(id, state, afterMs);
    const entry = this.backlog.entries.get(id);
    if (entry === undefined || this.rules.random() < 0.3) return;
    this.backlog.tellNews(id, this.time.nowMs);
    this.#wake({ phoneNumberId: entry.phoneNumberId, part: 0 }, 0);
  }

  protected wakeSender(phoneNumberId: string): void {
    this.#wake({ phoneNumberId, part: 0 }, 0);
  }

  #wake(wake: Wake, delaySeconds: number): void {
    this.queues.dispatch.send(queueBody(wake), delaySeconds);
  }

  async #sweepEachMinute(): Promise<void> {
    for (;;) {
      await this.time.sleep(60_000);
      const run = this.newRun();
      await this.#sweep(run).catch(() => undefined);
      this.#lastSweepMs = this.time.nowMs;
    }
  }

  async #sweep(run: Run): Promise<void> {
    const { nowMs } = this.time;
    this.backlog.moveLater(nowMs + 60_000 + laterThanMs);
    const entries = await run.call('sweep', () => [...this.backlog.entries.values()]);
    const breaker = await run.call('findBreaker', () => this.breaker.find());
    const wakes = new Map<string, number>();
    for (const entry of entries) {
      const item = this.table.dispatches.get(entry.dispatchId) ?? {};
      const stored = this.accepted.find(({ dispatch }) => dispatch.head.dispatchId === entry.dispatchId)?.dispatch;
      const standing = standingIn(item);
      if (stored === undefined) continue;
      let atMs = standing === 'begun' ? 0 : entry.enteredAtMs + undecidedMs;
      if (standing === 'withdrawn') atMs = nowMs;
      if (standing === 'begun') {
        const { head, lots } = stored;
        const holds = await run.call('findHolds', () => this.holds.of(head.wabaId));
        atMs = wakeMsOf(entry, { head, lots, state: stateOf(item) }, { holds, breaker }, nowMs);
      }
      if (atMs > nowMs + 60_000) continue;
      const known = wakes.get(entry.phoneNumberId) ?? Number.POSITIVE_INFINITY;
      wakes.set(entry.phoneNumberId, Math.min(known, atMs));
    }
    for (const [phoneNumberId, atMs] of wakes) {
      const delaySeconds = Math.max(0, Math.ceil((atMs - nowMs) / 1_000));
      await run.call('wakeSender', () => this.#wake({ phoneNumberId, part: 0 }, delaySeconds));
    }
  }

  #sender(): Consumer['handle'] {
    return async (batch, run, clock) => {
      for (const { body, sentAtMs } of batch) {
        const { phoneNumberId, part } = JSON.parse(body) as Wake;
        const of = sendersOf(this.rules.limitPerSecond);
        if (part >= of) continue;
        const wake = { phoneNumberId, part, of, waitedMs: Math.max(0, this.time.nowMs - sentAtMs - 60_000) };
        await runSender(wake, this.#portsOf(run, clock)).catch(() => undefined);
      }
      return [];
    };
  }

  #portsOf(run: Run, clock: RunClock): SenderPorts {
    const { table, stores, backlog } = this;
    const { events, ...process } = shared(this, run, clock, 'sender');
    const { states, wabas, stoppedAmong, slices, unknowns, look, breakers } = stores.ofWorker(run, clock.nowMs);
    const { find, recipientsFrom } = table.ofRounds(run);
    return {
      statesOf: ({ phoneNumberId, part }) => backlog.statesOf(run, `${phoneNumberId} ${part}`),
      backlog: backlog.ofSender(run),
      places: this.places.ofRun(run),
      slices: noted(this, slices),
      unknowns,
      states,
      events,
      paces: stores.ofWorker(run, clock.nowMs).paces,
      people: { stoppedAmong, inbound: inboundSink(this, run) },
      noteSent: async () => undefined,
      compose: composeMessage,
      limitOf: async () => this.rules.limitPerSecond,
      wake: (wake, delaySeconds) => run.call('wakeSender', () => this.#wake(wake, delaySeconds)),
      judge: async (dispatch) => asAccepted(dispatch),
      costStop: noCosts.costStop,
      tellEnd: async (dispatch) => {
        const isOver = await run.call('progressOf', () => this.#isOver(dispatch.head.dispatchId));
        if (!isOver) return false;
        const { head } = dispatch;
        await events.send([completedEvent({ ...head, about: aboutDispatch(head) }, {}, clock.nowMs())]);
        return true;
      },
      dispatches: {
        look,
        find: async (dispatchId) => {
          const item = await run.call('findItem', () => table.dispatches.get(dispatchId) ?? {});
          const dispatch = await find(dispatchId);
          return { standing: standingIn(item), state: stateOf(item), dispatch };
        },
        recipientsFrom,
        slicesFrom: (dispatchId, slice, until) =>
          run.call('findSlices', () =>
            Array.from({ length: until - slice }, (_, at) => table.find({ dispatchId, slice: slice + at })).filter(
              (each) => each !== undefined,
            ),
          ),
        withdraw: (dispatchId) => table.ofAcceptance(run).withdraw(dispatchId, new AbortController().signal),
        list: () => run.call('list', () => undefined),
        reckon: (dispatchId, underWay) =>
          run.call('reckon', () => {
            const { item, value } = written(
              table.dispatches.get(dispatchId),
              dispatchWrites.reckon(dispatchId, underWay),
            );
            if (item !== undefined) table.dispatches.set(dispatchId, item);
            return value;
          }),
      },
      holds: {
        breakers,
        ofSlice: (saw) =>
          runHolds({
            ...process,
            states,
            wabas: seenHolds(wabas, saw),
            watchParked: (chunk, sinceMs) =>
              run.call('watchParked', () =>
                this.queues.watches.send(queueBody(parkedWatchOf(chunk, sinceMs)), firstParkedLookSeconds),
              ),
          }),
      },
      platform: {
        ready: async () => undefined,
        send: (posting) => {
          noteCall(this, posting);
          return run.call('send', () => post(this, posting));
        },
        probe: () =>
          run.call('probe', async () => {
            await this.platform.read(probeTimeoutMs);
            return { maySend: true };
          }),
      },
      process: { ...process, invocation: clock.invocation },
    };
  }

  /** Nothing of the dispatch is pending in its report. */
  #isOver(dispatchId: string): boolean {
    const dispatch = this.accepted.find((each) => each.dispatch.head.dispatchId === dispatchId)?.dispatch;
    const state = { ...this.table.states.get(dispatchId), lots: dispatch?.lots };
    return (dispatch?.recipients ?? []).every((_, index) => {
      const slice = this.table.find(sliceOf({ dispatchId, index }));
      return outcomeOf(index, { slice, dispatch: state }, this.time.nowMs).state !== 'pending';
    });
  }
}
