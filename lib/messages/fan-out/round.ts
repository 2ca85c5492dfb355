import type { DelayedQueue } from '../../aws/sqs-batch.ts';
import { type ComposePorts, composedRecipient } from '../accept/composed-recipient.ts';
import type { RoundMessage } from '../accept/round-message.ts';
import type { ChunkRecipient } from '../dispatch/chunk.ts';
import type { DispatchHead, StoredRecipient } from '../dispatch/head.ts';
import type { DispatchItemState, RoundRecord, Settlement } from '../dispatch/item.ts';
import { type ByDispatchState, byDispatchState } from '../dispatch/item-state.ts';
import type { DispatchItemStates } from '../dispatch/item-store.ts';
import type { StoredDispatch } from '../dispatch/whole-dispatch.ts';
import { PaceContended } from '../pace/number-paces.ts';
import { slotMsOf } from '../pace/schedule.ts';
import { firstLookSeconds, type WatchMessage, watchOf } from '../watch/watch-message.ts';
import type { Released } from './cost-at-release.ts';
import {
  type DispatchRounds,
  holdEveryMs,
  leaseMarginMs,
  leaseMs,
  type Progress,
  type RoundRun,
  roundAfterLast,
  type Taken,
} from './dispatch-rounds.ts';
import { type EndPorts, endUnqueued } from './end-unqueued.ts';
import { type ChunkSink, queueChunks } from './queue-chunks.ts';
import {
  advanced,
  opensNextMs,
  type RangeRest,
  type RangeState,
  type RecipientRange,
  rangeState,
  rangesOf,
  restsOf,
  withoutEnded,
} from './recipient-ranges.ts';
import { type Release, type ReleasePorts, releaseOf } from './release.ts';
import { openingDelaySeconds } from './release-horizon.ts';
import type { Revalidation } from './revalidate-dispatch.ts';
import { chunksOfWave } from './wave-chunks.ts';

export interface FanOutPorts extends ReleasePorts, EndPorts, ComposePorts {
  readonly dispatches: DispatchRounds;
  readonly states: Pick<DispatchItemStates, 'stop'>;
  readonly judge: (dispatch: StoredDispatch) => Promise<Revalidation>;
  /** Returns how the rest of a dispatch ends that has become too expensive (cost-at-release.ts). */
  readonly costStop: (released: Released) => Promise<Settlement | undefined>;
  /** Counts the cost of a dispatch now (spend/count-dispatches.ts); is idempotent. */
  readonly countNow: (dispatchId: string) => Promise<void>;
  readonly queue: ChunkSink;
  readonly watch: DelayedQueue<WatchMessage>;
  readonly sendAgain: (message: RoundMessage, delaySeconds: number) => Promise<void>;
  /** Extends the delivery's invisibility to `holdSeconds`. Never throws: a failure only brings it back too soon. */
  readonly hold: () => Promise<void>;
  /** A failed delivery comes again after this time. */
  readonly againAfterSeconds: number;
  readonly remainingMs: () => number;
  readonly random: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

/** `again` makes SQS deliver the same message once more. */
export type FanOutEnd = 'done' | 'again';

type Sendable = Extract<Revalidation, { readonly kind: 'sendable' }>;

/** Recipients without another opening end this way (D56). */
const outOfTime: Settlement = { state: 'expired', code: 'expired' };

/** This many recipients end between two writes of the progress. */
const endedAtOnce = 500;

const waveBudgetMs = 15_000;

export interface RoundFacts {
  readonly message: RoundMessage;
  readonly dispatch: StoredDispatch;
  readonly run: RoundRun;
  readonly heldAtMs: number;
  readonly takenAtMs: number;
}

export class Round {
  readonly #facts: RoundFacts;
  readonly #ports: FanOutPorts;
  readonly #stretches: readonly RecipientRange[];
  readonly #ending: Pick<DispatchHead, 'expiresAtMs'> & Pick<StoredDispatch, 'lots'>;
  progress: Progress;
  #state: DispatchItemState;
  /** The dispatch is judged once per round that releases something. */
  #judged: Revalidation | undefined;
  #tooDear: { readonly stop: Settlement | undefined } | undefined;
  #heldAtMs: number;
  #leaseUntilMs: number;
  #release: Release | undefined;
  #page: { readonly firstIndex: number; readonly recipients: readonly StoredRecipient[] } = {
    firstIndex: 0,
    recipients: [],
  };

  constructor(facts: RoundFacts, taken: Extract<Taken, { kind: 'taken' }>, ports: FanOutPorts) {
    this.#facts = facts;
    this.#ports = ports;
    this.#stretches = rangesOf(facts.dispatch);
    this.#ending = { expiresAtMs: facts.dispatch.head.expiresAtMs, lots: facts.dispatch.lots };
    this.progress = taken.progress;
    this.#state = taken.state;
    this.#heldAtMs = facts.heldAtMs;
    this.#leaseUntilMs = facts.takenAtMs + leaseMs;
  }

  /** Releases what the round allows. Recipients of a stopped dispatch end as the stop says (D46, D53). */
  async work(): Promise<FanOutEnd> {
    const { dispatch, message } = this.#facts;
    const { head } = dispatch;
    const ports = this.#ports;
    while (this.progress.queued < head.total) {
      if (ports.remainingMs() < waveBudgetMs) return await this.#nextRound(message, 0);
      if (ports.nowMs() - this.#heldAtMs > holdEveryMs) {
        this.#heldAtMs = ports.nowMs();
        await ports.hold();
      }
      const by = byDispatchState(this.#state, this.#ending, ports.nowMs());
      const end = by.kind === 'settle' ? await this.#settle(by.settlement) : await this.#step(by);
      if (end !== undefined) return end;
    }
    await ports.watch.sendLater(watchOf(head), firstLookSeconds(this.#release?.lastMs() ?? 0, ports.nowMs()));
    ports.log('dispatch.fanned_out', { dispatchId: head.dispatchId, clientId: head.clientId, count: head.total });
    // What a stop has ended costs nothing, so its reservation is free at once (D56, D58).
    if (this.#state.stop !== undefined) await ports.countNow(head.dispatchId);
    return await this.#handOver({ round: roundAfterLast });
  }

  /**
   * Ends some of the remaining recipients. The stop is written first: the first of several stops is final, also for
   * reports.
   */
  async #settle(settlement: Settlement): Promise<FanOutEnd | undefined> {
    if (this.#state.stop === undefined) return await this.#stop(settlement);
    const [rest] = this.#rests();
    return rest && (await this.#end(rest, settlement));
  }

  async #stop(settlement: Settlement): Promise<FanOutEnd | undefined> {
    await this.#ports.states.stop(this.#facts.dispatch.head, { ...settlement, atMs: this.#ports.nowMs() });
    return (await this.#announce(this.progress)) ? undefined : 'again';
  }

  async #end(rest: RangeRest, settlement: Settlement): Promise<FanOutEnd | undefined> {
    const { from } = rest;
    const until = Math.min(rest.until, from + endedAtOnce);
    await endUnqueued(this.#facts.dispatch, { from, until, settlement }, this.#ports);
    return (await this.#announce(advanced(this.#stretches, this.progress, { ...rest, until }))) ? undefined : 'again';
  }

  /**
   * Takes the step of a dispatch that is not stopped. An announced wave is queued even after its opening: the worker
   * checks each recipient (D56).
   */
  async #step(by: Exclude<ByDispatchState, { kind: 'settle' }>): Promise<FanOutEnd | undefined> {
    const { message } = this.#facts;
    const { parkedSeconds, ...resumed } = message;
    if (this.progress.wave === undefined) {
      const rests = this.#rests();
      const over = rests.find((rest) => this.#standing(rest).kind === 'over');
      if (over !== undefined) return await this.#end(over, outOfTime);
      if (rests.every((rest) => this.#standing(rest).kind === 'closed')) {
        return await this.#nextRound(resumed, this.#untilOpeningSeconds(rests));
      }
    }
    if (by.kind === 'wait') {
      return await this.#nextRound({ ...message, parkedSeconds: by.delaySeconds }, by.delaySeconds);
    }
    // The dispatch waits as long again after it has resumed, behind what waits in the dispatch queue.
    if (parkedSeconds !== undefined) return await this.#nextRound(resumed, parkedSeconds);
    return await this.#wave();
  }

  #rests(): RangeRest[] {
    return restsOf(this.#stretches, this.progress);
  }

  #standing(rest: RecipientRange): RangeState {
    return rangeState(rest, this.#ports.nowMs(), this.#facts.dispatch.head.expiresAtMs);
  }

  #untilOpeningSeconds(rests: readonly RangeRest[]): number {
    const nowMs = this.#ports.nowMs();
    const opens = rests.map((rest) => opensNextMs(rest, nowMs, this.#facts.dispatch.head.expiresAtMs));
    return openingDelaySeconds(Math.min(...opens.map((opensAtMs) => opensAtMs ?? nowMs)), nowMs, this.#ports.random());
  }

  /**
   * Returns the recipients of the next wave, or seconds until the next round. Of open stretches, the one that closes
   * first goes first.
   */
  #next(release: Release): RangeRest | number {
    const { wave, queued } = this.progress;
    const rests = this.#rests();
    if (wave !== undefined) {
      const rest = rests.find(({ from }) => from === (wave.from ?? queued));
      if (rest === undefined) throw new Error('a wave was announced of what is queued');
      return { ...rest, until: wave.until };
    }
    if (release.next() === 0) return release.nextRoundSeconds;
    const open = rests.flatMap((rest) => {
      const standing = this.#standing(rest);
      return standing.kind === 'open' ? [{ rest, opening: standing }] : [];
    });
    for (const { rest, opening } of open.toSorted((one, other) => one.opening.untilMs - other.opening.untilMs)) {
      const size = release.next(rest.lots === undefined ? undefined : opening);
      if (size > 0) return { ...rest, until: Math.min(rest.until, rest.from + size) };
    }
    return this.#untilOpeningSeconds(rests);
  }

  /** Returns undefined once the wave is queued, or the dispatch is stopped. */
  async #wave(): Promise<FanOutEnd | undefined> {
    const { dispatch, message } = this.#facts;
    const ports = this.#ports;
    const release = await this.#releaseOfRound();
    const next = this.#next(release);
    if (typeof next === 'number') return await this.#nextRound(message, next);
    this.#judged ??= await ports.judge(dispatch);
    const judged = this.#judged;
    if (judged.kind === 'refused') return await this.#stop(judged.stop);
    this.#tooDear ??= { stop: await ports.costStop({ dispatch, head: judged.head, rests: this.#rests() }) };
    if (this.#tooDear.stop !== undefined) return await this.#stop(this.#tooDear.stop);
    const recipients = await this.#composed(next, judged);
    let { wave } = this.progress;
    if (wave === undefined) {
      wave = await this.#reserved(release, next);
      if (wave === undefined) return await this.#nextRound(message, contendedSeconds(ports.random()));
      if (!(await this.#announce({ ...this.progress, wave }))) return 'again';
      // A stop that was read with the announcement prevails over the wave.
      if (byDispatchState(this.#state, this.#ending, ports.nowMs()).kind !== 'send') return undefined;
    }
    const { lane, limitPerSecond } = release;
    const composed = {
      head: judged.head,
      composedMs: judged.judgedMs,
      lots: dispatch.lots && withoutEnded(dispatch.lots, ports.nowMs()),
      ...{ lane: lane.lane, limitPerSecond, recipients, firstPosition: wave.position },
    };
    const timed = chunksOfWave(composed, release.everyMs()).map((chunk) => {
      const slots = chunk.slices.map(({ position = 0 }) => slotMsOf(release.schedule(), { ...lane, position }));
      return { chunk, slotMs: Math.min(...slots.map((slotMs) => slotMs ?? ports.nowMs())) };
    });
    await queueChunks(timed, this.#leaseUntilMs - leaseMarginMs, ports);
    const { wave: _queued, ...before } = this.progress;
    this.progress = advanced(this.#stretches, before, next);
    return undefined;
  }

  async #releaseOfRound(): Promise<Release> {
    this.#release ??= await releaseOf(this.#facts.dispatch.head, this.#ports);
    return this.#release;
  }

  /**
   * Returns undefined when too many dispatches reserve on the number. This is no failure, so it uses up no delivery.
   */
  async #reserved(release: Release, { from, until, lots }: RangeRest): Promise<Progress['wave']> {
    try {
      const position = await release.reserve(until - from);
      return { ...(lots === undefined ? {} : { from }), until, position };
    } catch (error) {
      if (!(error instanceof PaceContended)) throw error;
      this.#ports.log('dispatch.number_contended', { count: until - from });
      return undefined;
    }
  }

  async #composed({ from, until }: RangeRest, { plan, fits }: Sendable): Promise<ChunkRecipient[]> {
    const { dispatch } = this.#facts;
    const { dispatchId } = dispatch.head;
    const composed: ChunkRecipient[] = [];
    for (let index = from; index < until; index += 1) {
      const stored = await this.#recipient(index);
      const recipient = fits(stored)
        ? composedRecipient(plan, stored, { dispatchId, index }, this.#ports)
        : { index, to: stored.to, unfit: true as const };
      const waitMs = dispatch.waitsMs.get(index);
      composed.push(waitMs === undefined ? recipient : { ...recipient, notBeforeMs: this.#ports.nowMs() + waitMs });
    }
    return composed;
  }

  async #recipient(index: number): Promise<StoredRecipient> {
    const known = this.#page.recipients[index - this.#page.firstIndex];
    if (known !== undefined) return known;
    const recipients = await this.#ports.dispatches.recipientsFrom(this.#facts.run.dispatchId, index);
    this.#page = { firstIndex: index, recipients };
    const [first] = recipients;
    if (first === undefined) throw new Error('recipients of the dispatch are gone');
    return first;
  }

  async #announce(progress: Progress): Promise<boolean> {
    const nowMs = this.#ports.nowMs();
    const state = await this.#ports.dispatches.announce(this.#facts.run, progress, nowMs);
    if (state === undefined) return false;
    this.progress = progress;
    this.#state = state;
    this.#leaseUntilMs = nowMs + leaseMs;
    return true;
  }

  async #nextRound(message: RoundMessage, delaySeconds: number): Promise<FanOutEnd> {
    const round = this.#facts.run.round + 1;
    await this.#ports.sendAgain({ ...message, round }, delaySeconds);
    return await this.#handOver({ round, dueMs: this.#ports.nowMs() + delaySeconds * 1_000 });
  }

  async #handOver(next: Omit<RoundRecord, 'lease'>): Promise<FanOutEnd> {
    return (await this.#ports.dispatches.handOver(this.#facts.run, this.progress, next)) ? 'done' : 'again';
  }
}

/** Adds jitter, so that two contenders do not collide twice. */
function contendedSeconds(random: number): number {
  return 2 + Math.floor(random * 8);
}
