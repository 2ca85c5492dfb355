import { correlated } from '../../observe/correlation.ts';
import { errorName } from '../../observe/error-name.ts';
import type { LogEvent } from '../../observe/log.ts';
import type { HeldBy } from '../holds/hold.ts';
import type { DispatchInHand } from './dispatch-in-hand.ts';
import type { Errands } from './errands.ts';
import type { NumberView } from './number-view.ts';
import { pauseOf, pauseStep, tellPause } from './pause.ts';
import type { SenderPorts } from './sender-ports.ts';

/** What store, queue or platform cannot do now is tried again then. */
const againAfterMs = 2_000;
/** An invocation does not wait longer for the answer to a question: its lease hands it on. */
const longestAnswerMs = 10_000;

/** What a sender does for held dispatches beside their slices: it tells their pauses, and reads their templates (D46). */
export class HeldHands {
  readonly #number: NumberView;
  readonly #errands: Errands;
  readonly #changed: () => void;
  readonly #ports: SenderPorts;
  /** By WABA and scope. The platform may take its time, which nothing else of the number waits for. */
  readonly #questions = new Map<string, Promise<void>>();

  constructor(number: NumberView, errands: Errands, changed: () => void, ports: SenderPorts) {
    this.#number = number;
    this.#errands = errands;
    this.#changed = changed;
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
      this.#errands.do(hand, () =>
        this.#trying(hand, 'dispatch.not_held', () => tellPause(hand, this.#number, this.#ports)),
      );
    }
  }

  /** Asks for the hold of a dispatch's template, unless the platform as a whole is down. Each hold is asked once. */
  ask(hand: DispatchInHand, by: HeldBy): void {
    const { head } = hand.dispatch;
    const name = `${head.wabaId} ${by.scope}`;
    if (this.#number.breaker?.open !== undefined || this.#questions.has(name)) return;
    const asked = { ...head, credential: hand.facts.credential };
    const asking = correlated(head.correlationId, () =>
      this.#trying(hand, 'hold.not_changed', () =>
        this.#ports.holds.askTemplate(asked, by, (wabaId, seen) => this.#number.saw(wabaId, seen)),
      ),
    ).finally(() => {
      this.#questions.delete(name);
      this.#changed();
    });
    this.#questions.set(name, asking);
  }

  /** Never rejects. */
  async answered(): Promise<void> {
    if (this.#questions.size === 0) return;
    await Promise.race([Promise.all(this.#questions.values()), this.#ports.process.pause(longestAnswerMs)]);
  }

  /** The dispatch waits for the platform as a whole. */
  waitForPlatform(dispatchId: string): void {
    this.#errands.wait(dispatchId, this.#ports.process.nowMs() + againAfterMs);
  }

  /** What fails here is no fault of the dispatch. */
  async #trying({ dispatchId }: DispatchInHand, failure: LogEvent, what: () => Promise<void>): Promise<void> {
    try {
      await what();
    } catch (error) {
      const { log, nowMs } = this.#ports.process;
      log(failure, { dispatchId, error: errorName(error) });
      this.#errands.wait(dispatchId, nowMs() + againAfterMs);
    }
  }
}
