import type { TriedRecipient } from '../dispatch/call-facts.ts';
import { parkDelaySeconds } from '../dispatch/item-state.ts';
import { type Outcome, placeInSlice, provenByReceipt } from '../dispatch/slice.ts';
import { holdableOf } from '../holds/held-dispatch.ts';
import { isOutdated } from '../holds/hold.ts';
import { mayStillAsk } from '../holds/questions.ts';
import { blockedUntilMs, recipientHashOf } from '../pace/known-pace.ts';
import { erased } from '../send/excluded-recipients.ts';
import { type Ended, heldBackBy, lateOf, postMessage, type RunPorts } from '../send/post-message.ts';
import type { ProbeCall } from '../send/probe-holds.ts';
import { outsideOf } from '../send/recipient-openings.ts';
import { countCode } from './code-lateness.ts';
import type { TriedDispatch } from './dispatch-in-hand.ts';
import type { NumberView } from './number-view.ts';
import type { OpenSlice } from './open-slice.ts';
import type { SliceTryPorts } from './sender-ports.ts';
import type { SliceLookout } from './slice-lookout.ts';
import type { Turns } from './turns.ts';

/** Shorter waits happen in the run's memory; for a longer one the slice ends, and its next try waits. */
const longestWaitMs = 5_000;
/** A call so long after the look at stops, opt-outs and erasures looks again. */
const lookAgainAfterMs = 5_000;

/** What all slices of a sender share, or all requests that a worker has for a number but their places. */
export interface SliceShared<Ports extends SliceTryPorts = SliceTryPorts> {
  /** Is unique for each run. */
  readonly invocation: string;
  readonly turns: Pick<Turns, 'take'>;
  readonly number: NumberView;
  /** No call begins later. */
  readonly lastCallMs: number;
  readonly ports: Ports;
}

export type CallPorts = Pick<
  RunPorts,
  'platform' | 'learning' | 'holds' | 'unknowns' | 'nowMs' | 'random' | 'log' | 'pause'
>;

export interface CalledTry {
  readonly hand: TriedDispatch;
  readonly open: OpenSlice;
  readonly lookout: SliceLookout;
  /** It is a small request without a place, or the first slice of a client that has come to others who wait. */
  readonly isFront: boolean;
}

/** The calls to the recipients of one try of a slice, each at its turn. */
export class RecipientCalls {
  /** The slice is held, and one of its messages asks (D46). */
  asks: ProbeCall | undefined;
  /** So many calls were made. */
  made = 0;
  /** The platform spells numbers so, by index. */
  readonly spelled = new Map<number, string>();
  /** The last message that the platform took was called then. */
  takenMs: number | undefined;
  readonly #hand: TriedDispatch;
  readonly #open: OpenSlice;
  readonly #lookout: SliceLookout;
  readonly #isFront: boolean;
  readonly #shared: SliceShared;
  readonly #ports: CallPorts;

  constructor({ hand, open, lookout, isFront }: CalledTry, shared: SliceShared, ports: CallPorts) {
    this.#hand = hand;
    this.#open = open;
    this.#lookout = lookout;
    this.#isFront = isFront;
    this.#shared = shared;
    this.#ports = ports;
  }

  /** Calls a recipient at its turn, or says how it ends without a call. Never throws. */
  async call(recipient: TriedRecipient): Promise<Outcome> {
    const asks = this.asks;
    // One message is the probe; the others wait as if another worker probed.
    if (asks !== undefined && asks.index !== recipient.index) return this.#waiting();
    const { to, request, unfit } = recipient;
    if (to === undefined) return erased;
    if (request === undefined) return { state: 'failed', code: unfit ? 'template_changed' : 'not_composable' };
    let tried = recipient;
    for (;;) {
      const notYet = await this.#untilItsTurn(tried);
      if (notYet !== undefined) {
        if (asks !== undefined) await this.#ports.holds.answered(this.#hand.facts, asks.probe, 'unclear');
        // Its time was over before its turn.
        if (notYet.state === 'expired' && notYet.code === 'expired') this.#countCode(tried);
        return notYet;
      }
      this.#countCode(tried);
      const calledMs = this.#ports.nowMs();
      const ended = await postMessage(this.#posted(tried), this.#ports);
      this.made += 1;
      await this.#learn(tried, ended, calledMs);
      const { outcome, attempts } = ended;
      const isShort = outcome.state === 'again' && attempts !== undefined && this.#mayWait(outcome.dueMs);
      if (!isShort || asks !== undefined) return outcome;
      const proven = await this.#ports.unknowns.proven(this.#key()).catch(() => undefined);
      if (proven === undefined) return outcome;
      if (proven.has(placeInSlice(tried.index))) return provenByReceipt;
      tried = { ...tried, attempts, notBeforeMs: outcome.dueMs };
    }
  }

  #countCode({ attempts }: TriedRecipient): void {
    const isFirst = this.#open.try === 0 && attempts === undefined;
    // A small request has no second slice.
    countCode(this.#hand.facts, { isSmall: this.#hand.sizeOf(1) <= 0, isFirst }, this.#ports.nowMs());
  }

  #key() {
    return { dispatchId: this.#hand.dispatchId, slice: this.#open.slice };
  }

  /** Earlier runs left no memory but the number of tries; after a review, a template that is not there is gone. */
  #posted(recipient: TriedRecipient) {
    const { facts } = this.#hand;
    const { try: tried } = this.#open;
    const wasReviewed = isOutdated(this.#shared.number.holdsOf(facts.wabaId), holdableOf(facts), facts.acceptedAtMs);
    const notThere = tried > 0 && wasReviewed ? { notThere: true as const } : {};
    return { callFacts: facts, recipient: { ...recipient, ...notThere }, earlierTries: tried };
  }

  async #learn(
    { index }: TriedRecipient,
    { outcome, waId, result = 'unclear' }: Ended,
    calledMs: number,
  ): Promise<void> {
    if (this.asks !== undefined) await this.#ports.holds.answered(this.#hand.facts, this.asks.probe, result);
    if (waId !== undefined) this.spelled.set(index, waId);
    if (outcome.state === 'sent') this.takenMs = Math.max(this.takenMs ?? 0, calledMs);
  }

  #mayWait(untilMs: number): boolean {
    return untilMs - this.#ports.nowMs() <= longestWaitMs && untilMs < this.#shared.lastCallMs;
  }

  /** Waits for a turn of the number. Returns undefined when it is time to call (D27, D43, D46, D53, D55, D56). */
  async #untilItsTurn(recipient: TriedRecipient): Promise<Outcome | undefined> {
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
        await this.#ports.pause(notBeforeMs - nowMs);
      } else if (!hasTurn) {
        if (!(await turns.take(this.#isFront))) return again(this.#ports.nowMs());
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

  #barredNow(recipient: TriedRecipient, nowMs: number): Outcome | undefined {
    const { facts: callFacts, state: dispatch } = this.#hand;
    const asks = this.asks;
    const mayAsk = asks === undefined ? undefined : () => mayStillAsk(asks.probe, nowMs);
    const holds = this.#shared.number.holdsOf(callFacts.wabaId);
    const out =
      this.#lookout.barred.get(placeInSlice(recipient.index)) ??
      heldBackBy({ dispatch, holds }, { callFacts, mayAsk }, nowMs) ??
      lateOf(callFacts, recipient, nowMs) ??
      outsideOf(callFacts, recipient, nowMs);
    if (out !== undefined) return out;
    return mayAsk === undefined || mayAsk() ? undefined : { state: 'again', dueMs: nowMs };
  }

  #waiting(): Outcome {
    const nowMs = this.#ports.nowMs();
    const { facts: callFacts, state: dispatch } = this.#hand;
    const again = { state: 'again', dueMs: nowMs + 1_000 * parkDelaySeconds(0) } as const;
    return (
      heldBackBy({ dispatch, holds: this.#shared.number.holdsOf(callFacts.wabaId) }, { callFacts }, nowMs) ?? again
    );
  }
}
