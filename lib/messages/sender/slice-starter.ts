import { correlated } from '../../observe/correlation.ts';
import { sliceSize } from '../dispatch/slice.ts';
import type { RunHolds } from '../holds/run-holds.ts';
import { type GuardedRun, guardRun } from '../send/circuit-breaker-run.ts';
import type { SliceEnd } from '../send/claims/run-slice.ts';
import type { DispatchInHand } from './dispatch-in-hand.ts';
import type { OpenSlice } from './open-slice.ts';
import type { SliceShared } from './recipient-calls.ts';
import type { SenderPorts } from './sender-ports.ts';
import { SliceRun, type TriedSlice } from './slice-run.ts';
import type { Turns } from './turns.ts';

/** A slice is claimed so long before its turns come, or as much longer as claims take in a slow table. */
const aheadMs = 300;
const aheadOfClaim = 1.25;
/** At most so much of the pace is claimed and not recorded: a slow table or a silent number never makes thousands. */
const unrecordedMs = 2_000;

export interface NextSlice {
  readonly hand: DispatchInHand;
  readonly open: OpenSlice;
  readonly size: number;
  /** Its calls have turns in front of others. */
  readonly isFront: boolean;
}

interface Running {
  run?: SliceRun;
  readonly size: number;
  readonly isFront: boolean;
}

export type SliceOutcome =
  | { readonly kind: 'run'; readonly end: SliceEnd; readonly isTold: boolean }
  /** The platform is down: nothing was claimed. */
  | { readonly kind: 'outage' }
  /** The lease is over: nothing was claimed. */
  | { readonly kind: 'given_back' }
  /** The recipients cannot be read: nothing was claimed. */
  | { readonly kind: 'failed'; readonly error: unknown };

type SenderShared = SliceShared<SenderPorts> & {
  readonly turns: Turns;
  /** The lease is this run's by its own clock. */
  readonly mayClaim: () => boolean;
};

/** Starts slices, as many ahead of the turns as are needed and as may be lost. */
export class SliceStarter {
  readonly #shared: SenderShared;
  #tries = 0;
  readonly #everyMs: () => number;
  readonly #changed: () => void;
  /** The last claim took so long, with the look after it. */
  #claimMs = 0;
  readonly #running = new Map<Promise<void>, Running>();

  constructor(shared: SenderShared, everyMs: () => number, changed: () => void) {
    this.#shared = shared;
    this.#everyMs = everyMs;
    this.#changed = changed;
  }

  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /** Something is started that may not be claimed yet. */
  get isBeginning(): boolean {
    return [...this.#running.values()].some(({ run }) => run?.isReady !== true);
  }

  /**
   * One slice may always be ahead, however slow the number is, beside one that is not recorded yet. What is in front
   * does not wait for what is not.
   */
  mayStart(isFront: boolean): boolean {
    let claiming = 0;
    let unrecorded = 0;
    for (const { run, size, ...other } of this.#running.values()) {
      if (other.isFront !== isFront) continue;
      unrecorded += size;
      if (run?.isReady !== true) claiming += size;
    }
    const { turns } = this.#shared;
    if (turns.areOver) return false;
    const everyMs = this.#everyMs();
    const ahead = (turns.waiting(isFront) + claiming) * everyMs;
    if (ahead > Math.max(aheadMs, aheadOfClaim * this.#claimMs)) return false;
    return unrecorded < Math.max(sliceSize + 1, unrecordedMs / everyMs);
  }

  /** `ended` is called with the outcome before the slice counts as ended. */
  start(next: NextSlice, ended: (outcome: SliceOutcome) => void): void {
    const place: Running = { size: next.size, isFront: next.isFront };
    const running = correlated(next.hand.facts.correlationId, () => this.#run(next, place)).then((outcome) => {
      this.#running.delete(running);
      ended(outcome);
    });
    this.#running.set(running, place);
  }

  async allEnded(): Promise<void> {
    while (this.isBusy) await Promise.all(this.#running.keys());
  }

  /** Reads whether the platform as a whole is down; when its probe is due, one run asks (circuit-breaker-run.ts). */
  async guardOf(hand: DispatchInHand): Promise<{ readonly guarded: GuardedRun; readonly holds: RunHolds }> {
    const { ports, number } = this.#shared;
    const holds = ports.holds.ofSlice((wabaId, seen) => number.saw(wabaId, seen));
    const { breakers } = ports.holds;
    const known = { ...breakers, find: async () => number.breaker ?? (await breakers.find()) };
    const guarded = await guardRun(hand.facts, { ...ports.process, ...ports.platform, holds, breakers: known });
    return { guarded, holds };
  }

  async #run({ hand, open }: NextSlice, place: Running): Promise<SliceOutcome> {
    const { process } = this.#shared.ports;
    let guarded: GuardedRun;
    let ended: TriedSlice;
    try {
      const recipients = await hand.recipients(open, this.#shared.ports);
      const guarding = await this.guardOf(hand);
      guarded = guarding.guarded;
      if (guarded.outage !== undefined) return { kind: 'outage' };
      // Reads in a slow table may have outlasted the lease.
      if (!this.#shared.mayClaim()) return { kind: 'given_back' };
      this.#tries += 1;
      const owner = `${this.#shared.invocation}/${this.#tries}`;
      const own = { open, recipients, owner, isFront: place.isFront };
      const run = new SliceRun(hand, own, { send: guarded.send, holds: guarding.holds }, this.#shared);
      place.run = run;
      const beganMs = process.nowMs();
      run.whenReady(() => {
        this.#claimMs = process.nowMs() - beganMs;
        this.#changed();
      });
      ended = await run.run();
    } catch (error) {
      return { kind: 'failed', error };
    }
    await guarded.end();
    return { kind: 'run', ...ended };
  }
}
