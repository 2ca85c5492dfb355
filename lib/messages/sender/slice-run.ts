import { errorName } from '../../observe/error-name.ts';
import type { ChunkRecipient } from '../dispatch/chunk.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import { endOfTry, parkDelaySeconds, settlementOf } from '../dispatch/item-state.ts';
import { lost, type Outcome, placeInSlice, provenByReceipt, type SliceClaim } from '../dispatch/slice.ts';
import { composedMsOf, holdableOf } from '../holds/held-dispatch.ts';
import { holdsOn, isOutdated, mayCallProbe } from '../holds/hold.ts';
import type { RunHolds } from '../holds/run-holds.ts';
import { adaptivePace } from '../pace/adaptive-pace.ts';
import { blockedUntilMs, recipientHashOf } from '../pace/number-pace.ts';
import { retryDelaySeconds } from '../pace/retry-delay.ts';
import { pauseUntil } from '../send/call-recipient.ts';
import { outsideOf } from '../send/chunk-openings.ts';
import type { GuardedRun } from '../send/circuit-breaker-run.ts';
import { runSlice, type SliceEnd, type SliceLook, type SlicePorts } from '../send/claims/run-slice.ts';
import { erased } from '../send/excluded-recipients.ts';
import { type Ended, heldBackBy, lateOf, postMessage, type RunPorts } from '../send/post-message.ts';
import { type ProbeCall, probeHolds } from '../send/probe-holds.ts';
import { reportedSlices } from '../send/reported-slices.ts';
import type { DispatchInHand, OpenSlice } from './dispatch-in-hand.ts';
import type { NumberView } from './number-view.ts';
import type { SenderPorts } from './sender-ports.ts';
import { tellEndings } from './slice-endings.ts';
import { SliceLookout } from './slice-lookout.ts';
import type { Turns } from './turns.ts';

/** Shorter waits happen in the run's memory; for a longer one the slice ends, and its next try waits. */
const longestWaitMs = 5_000;
/** A call so long after the look at stops, opt-outs and erasures looks again. */
const lookAgainAfterMs = 5_000;

/** The owner of an older claim is dead: a sender's time-out, with a margin for clocks and late writes. */
const claimLifeMs = 150_000;

/** What all slices of a sender share. */
export interface SliceShared {
  /** Is unique for each run. */
  readonly invocation: string;
  readonly turns: Turns;
  readonly number: NumberView;
  /** No call begins later. */
  readonly lastCallMs: number;
  readonly ports: SenderPorts;
}

export interface OwnTry {
  readonly open: OpenSlice;
  readonly recipients: ReadonlyMap<number, ChunkRecipient>;
  /** Is unique for each try: one that could not be recorded must not be claimed again by its own run. */
  readonly owner: string;
}

/** One try of a slice: claims it, looks, calls each recipient at its turn, ends it, tells its endings. */
export class SliceRun {
  readonly #hand: DispatchInHand;
  readonly #open: OpenSlice;
  readonly #owner: string;
  readonly #recipients: ReadonlyMap<number, ChunkRecipient>;
  readonly #shared: SliceShared;
  readonly #ports: RunPorts;
  readonly #runHolds: RunHolds;
  readonly #spelled = new Map<number, string>();
  readonly #lookout: SliceLookout;
  #asks: ProbeCall | undefined;
  #calls = 0;
  #dispatchOfTaken: DispatchItemState | undefined;
  /** The claim is looked at: from now on recipients wait for turns. */
  isReady = false;
  #whenReady: (() => void) | undefined;

  constructor(
    hand: DispatchInHand,
    { open, recipients, owner }: OwnTry,
    guarded: Pick<GuardedRun, 'send'> & { readonly holds: RunHolds },
    shared: SliceShared,
  ) {
    this.#hand = hand;
    this.#open = open;
    this.#recipients = recipients;
    this.#owner = owner;
    this.#shared = shared;
    const { process, ...ports } = shared.ports;
    this.#runHolds = guarded.holds;
    this.#lookout = new SliceLookout(hand, recipients, shared);
    this.#ports = {
      ...ports,
      ...process,
      platform: { ...ports.platform, send: guarded.send },
      learning: adaptivePace({ ...process, paces: shared.number.paces }),
      holds: guarded.holds,
    } as unknown as RunPorts;
  }

  /** Calls once, when the try waits for turns, or for nothing. */
  whenReady(then: () => void): void {
    this.#whenReady = then;
  }

  #ready(): void {
    if (this.isReady) return;
    this.isReady = true;
    this.#whenReady?.();
  }

  /** Never throws. `isTold` says that the endings are told. */
  async run(): Promise<{ readonly end: SliceEnd; readonly isTold: boolean }> {
    const { dispatchId, keptUntilMs } = this.#hand.facts;
    const { slice, try: tried } = this.#open;
    const claim: SliceClaim = {
      key: { dispatchId, slice },
      try: tried,
      owner: this.#owner,
      atMs: this.#ports.nowMs(),
      size: this.#hand.sizeOf(slice),
      keptUntilMs,
    };
    let end: SliceEnd;
    try {
      end = await runSlice({ claim, recipients: this.#recipients }, this.#slicePorts());
    } catch {
      return { end: { kind: 'later' }, isTold: false };
    } finally {
      this.#ready();
    }
    if (end.kind !== 'ended') return { end, isTold: false };
    try {
      const tried = { recipients: this.#recipients, spelled: this.#spelled };
      await tellEndings(this.#hand.facts, end.slice, tried, this.#shared.ports);
      if (this.#dispatchOfTaken !== undefined) await this.#runHolds.taken(this.#hand.facts, this.#dispatchOfTaken);
      return { end, isTold: true };
    } catch (error) {
      this.#ports.log('send.error', { error: errorName(error) });
      return { end, isTold: false };
    }
  }

  #slicePorts(): SlicePorts {
    const { unknowns, nowMs, pause, remainingMs, random } = this.#ports;
    const slices = reportedSlices(this.#hand.facts.clientId, this.#ports);
    return {
      slices: { ...slices, end: async (own, outcomes) => await slices.end(own, outcomes, this.#calls) },
      look: async (claim) => await this.#look(claim),
      markUnknown: async () => await unknowns.mark(this.#hand.facts),
      proven: async ({ key }) => await unknowns.proven(key),
      call: async (recipient) => await this.#call(recipient),
      nowMs,
      mayRepeat: async (times) => {
        if (times === mostWrites || remainingMs() < writeBudgetMs) return false;
        await pause(Math.min(longestPauseMs, 500 * times));
        return true;
      },
      claimLifeMs,
      retryMs: () => nowMs() + 1_000 * retryDelaySeconds({ pace: 'claims', attempt: 0 }, random()),
    };
  }

  async #look(claim: SliceClaim): Promise<SliceLook> {
    const [, proven] = await Promise.all([
      this.#lookout.look(),
      claim.try === 0 ? new Set<number>() : this.#ports.unknowns.proven(claim.key),
    ]);
    const { state, facts } = this.#hand;
    this.#runHolds.saw(facts.wabaId, this.#shared.number.holdsOf(facts.wabaId));
    const stop = endOfTry(state, { slice: claim.key.slice, try: claim.try });
    return {
      heldBack: () => this.#heldBack(new Set([...proven, ...this.#lookout.barred.keys()])),
      proven,
      barred: this.#lookout.barred,
      ofDead: stop === undefined ? lost : settlementOf(stop),
    };
  }

  /** Returns how uncalled recipients end. If the slice is held, one may be called as a probe (D46). */
  async #heldBack(uncalled: ReadonlySet<number>): Promise<Outcome | undefined> {
    this.#ready();
    const chunk = this.#hand.facts;
    const holds = this.#shared.number.holdsOf(chunk.wabaId);
    const nowMs = this.#ports.nowMs();
    const standing = { dispatch: this.#hand.state, holds };
    const heldBack = heldBackBy(standing, { chunk }, nowMs);
    if (heldBack !== undefined && heldBack.state !== 'again') return heldBack;
    const on = holdsOn(holds, holdableOf(chunk));
    // Not even a probe leaves as it was composed before a review.
    if (isOutdated(holds, holdableOf(chunk), composedMsOf(chunk))) return heldBack ?? { state: 'again', dueMs: nowMs };
    if (heldBack === undefined || on.length === 0) return heldBack;
    const recipients = [...this.#recipients.values()].filter(({ index }) => !uncalled.has(placeInSlice(index)));
    this.#asks = await probeHolds({ chunk, recipients, on, dispatch: standing.dispatch }, this.#ports);
    return this.#asks === undefined ? heldBack : undefined;
  }

  async #call(recipient: ChunkRecipient): Promise<Outcome> {
    const asks = this.#asks;
    // One message is the probe; the others wait as if another worker probed.
    if (asks !== undefined && asks.index !== recipient.index) return this.#waiting();
    const { to, request, unfit } = recipient;
    if (to === undefined) return erased;
    if (request === undefined) return { state: 'failed', code: unfit ? 'template_changed' : 'not_composable' };
    let tried = recipient;
    for (;;) {
      const notYet = await this.#untilItsTurn(tried);
      if (notYet !== undefined) {
        if (asks !== undefined) await this.#runHolds.answered(this.#hand.facts, asks.probe, 'unclear');
        return notYet;
      }
      const ended = await postMessage(this.#posted(tried), this.#ports);
      this.#calls += 1;
      await this.#learn(tried, ended);
      const { outcome, attempts } = ended;
      const isShort = outcome.state === 'again' && attempts !== undefined && this.#mayWait(outcome.dueMs);
      if (!isShort || asks !== undefined) return outcome;
      const proven = await this.#ports.unknowns.proven(this.#key()).catch(() => undefined);
      if (proven === undefined) return outcome;
      if (proven.has(placeInSlice(tried.index))) return provenByReceipt;
      tried = { ...tried, attempts, notBeforeMs: outcome.dueMs };
    }
  }

  #key() {
    return { dispatchId: this.#hand.dispatchId, slice: this.#open.slice };
  }

  /** Earlier runs left no memory but the number of tries; after a review, a template that is not there is gone. */
  #posted(recipient: ChunkRecipient) {
    const { facts } = this.#hand;
    const { try: tried } = this.#open;
    const wasReviewed = isOutdated(this.#shared.number.holdsOf(facts.wabaId), holdableOf(facts), facts.acceptedAtMs);
    const notThere = tried > 0 && wasReviewed ? { notThere: true as const } : {};
    return { chunk: facts, recipient: { ...recipient, ...notThere }, earlierTries: tried };
  }

  async #learn({ index }: ChunkRecipient, { outcome, waId, result = 'unclear' }: Ended): Promise<void> {
    if (this.#asks !== undefined) await this.#runHolds.answered(this.#hand.facts, this.#asks.probe, result);
    if (waId !== undefined) this.#spelled.set(index, waId);
    if (outcome.state === 'sent') this.#dispatchOfTaken ??= this.#hand.state;
  }

  #mayWait(untilMs: number): boolean {
    return untilMs - this.#ports.nowMs() <= longestWaitMs && untilMs < this.#shared.lastCallMs;
  }

  /** Waits for a turn of the number. Returns undefined when it is time to call (D27, D43, D46, D53, D55, D56). */
  async #untilItsTurn(recipient: ChunkRecipient): Promise<Outcome | undefined> {
    const { turns, number, lastCallMs } = this.#shared;
    const again = (dueMs: number): Outcome => ({ state: 'again', dueMs });
    for (let hasTurn = false; ; ) {
      const nowMs = this.#ports.nowMs();
      const barred = this.#barredNow(recipient, nowMs);
      if (barred !== undefined) return barred;
      const blockedMs = blockedUntilMs(number.pace, recipientHashOf(recipient.to ?? ''), nowMs) ?? 0;
      const notBeforeMs = Math.max(recipient.notBeforeMs ?? 0, blockedMs);
      if (notBeforeMs > nowMs) {
        if (!this.#mayWait(notBeforeMs)) return again(notBeforeMs);
        await pauseUntil(notBeforeMs, this.#ports);
      } else if (!hasTurn) {
        if (turns.freeMs > lastCallMs) return again(nowMs);
        await turns.take(this.#hand.entry.front);
        hasTurn = true;
      } else if (nowMs - this.#lookout.lookedMs > lookAgainAfterMs) {
        try {
          await this.#lookout.look();
        } catch {
          return again(nowMs);
        }
      } else if (nowMs > lastCallMs) return again(nowMs);
      else return undefined;
    }
  }

  #barredNow(recipient: ChunkRecipient, nowMs: number): Outcome | undefined {
    const { facts: chunk, state: dispatch } = this.#hand;
    const asks = this.#asks;
    const mayAsk = asks === undefined ? undefined : () => mayCallProbe(asks.probe, nowMs);
    const holds = this.#shared.number.holdsOf(chunk.wabaId);
    const out =
      this.#lookout.barred.get(placeInSlice(recipient.index)) ??
      heldBackBy({ dispatch, holds }, { chunk, mayAsk }, nowMs) ??
      lateOf(chunk, recipient, nowMs) ??
      outsideOf(chunk, recipient, nowMs);
    if (out !== undefined) return out;
    return mayAsk === undefined || mayAsk() ? undefined : { state: 'again', dueMs: nowMs };
  }

  #waiting(): Outcome {
    const nowMs = this.#ports.nowMs();
    const { facts: chunk, state: dispatch } = this.#hand;
    const again = { state: 'again', dueMs: nowMs + 1_000 * parkDelaySeconds(0) } as const;
    return heldBackBy({ dispatch, holds: this.#shared.number.holdsOf(chunk.wabaId) }, { chunk }, nowMs) ?? again;
  }
}

/** Only this run knows the outcomes, so it repeats the write while it has time. */
const mostWrites = 15;
const longestPauseMs = 5_000;
const writeBudgetMs = 5_000;
