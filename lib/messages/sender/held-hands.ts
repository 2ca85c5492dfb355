import { errorName } from '../../observe/error-name.ts';
import type { LogEvent } from '../../observe/log.ts';
import type { HeldBy } from '../holds/hold.ts';
import type { DispatchInHand } from './dispatch-in-hand.ts';
import type { Concerned, Errands } from './errands.ts';
import type { NumberView } from './number-view.ts';
import { pauseOf, pauseStep, tellPause } from './pause.ts';
import type { SenderPorts } from './sender-ports.ts';

/** What store, queue or platform cannot do now is tried again then. */
const againAfterMs = 2_000;

/** What a sender does for held dispatches beside their slices: it tells their pauses, and reads their templates (D46). */
export class HeldHands {
  readonly #number: NumberView;
  readonly #errands: Errands;
  readonly #ports: SenderPorts;

  constructor(number: NumberView, errands: Errands, ports: SenderPorts) {
    this.#number = number;
    this.#errands = errands;
    this.#ports = ports;
  }

  /** Tells the pauses that have begun or ended, as the last look has found them. */
  tellPauses(hands: Iterable<DispatchInHand>): void {
    const nowMs = this.#ports.process.nowMs();
    for (const hand of hands) {
      const { dispatchId, isOver, state } = hand;
      // The end of a dispatch ends its pause as well.
      if (isOver || this.#errands.waitsUntilMs(dispatchId) > nowMs) continue;
      if (pauseStep(state, pauseOf(hand, this.#number, nowMs)) === undefined) continue;
      this.#do(hand, 'dispatch.not_held', () => tellPause(hand, this.#number, this.#ports));
    }
  }

  /** Asks for the hold of a dispatch's template, unless the platform as a whole is down. */
  ask(hand: DispatchInHand, by: HeldBy): void {
    if (this.#number.breaker?.open !== undefined) return;
    const asked = { ...hand.dispatch.head, credential: hand.facts.credential };
    this.#do(hand, 'hold.not_changed', () =>
      this.#ports.holds.askTemplate(asked, by, (wabaId, seen) => this.#number.saw(wabaId, seen)),
    );
  }

  /** The dispatch waits for the platform as a whole. */
  waitForPlatform(dispatchId: string): void {
    this.#errands.wait(dispatchId, this.#ports.process.nowMs() + againAfterMs);
  }

  /** What fails here is no fault of the dispatch. */
  #do(hand: Concerned, failure: LogEvent, what: () => Promise<void>): void {
    const { dispatchId } = hand;
    this.#errands.do(hand, async () => {
      try {
        await what();
      } catch (error) {
        const { log, nowMs } = this.#ports.process;
        log(failure, { dispatchId, error: errorName(error) });
        this.#errands.wait(dispatchId, nowMs() + againAfterMs);
      }
    });
  }
}
