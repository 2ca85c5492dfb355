import { errorName } from '../../observe/error-name.ts';
import type { TriedRecipient } from '../dispatch/call-facts.ts';
import { endOfTry, settlementOf } from '../dispatch/item-state.ts';
import { lost, type Outcome, placeInSlice, type Slice, type SliceClaim } from '../dispatch/slice.ts';
import { composedMsOf, holdableOf } from '../holds/held-dispatch.ts';
import { holdsOn, isOutdated } from '../holds/hold.ts';
import type { RunHolds } from '../holds/run-holds.ts';
import { learningPace } from '../pace/learning-pace.ts';
import { retryDelaySeconds } from '../pace/retry-delay.ts';
import type { GuardedRun } from '../send/circuit-breaker-run.ts';
import { runSlice, type SliceEnd, type SliceLook, type SlicePorts } from '../send/claims/run-slice.ts';
import { claimLifeMs } from '../send/deadlines.ts';
import { heldBackBy, type RunPorts } from '../send/post-message.ts';
import { probeHolds } from '../send/probe-holds.ts';
import { reportedSlices } from '../send/reported-slices.ts';
import type { TriedDispatch } from './dispatch-in-hand.ts';
import type { OpenSlice } from './open-slice.ts';
import { type CallPorts, RecipientCalls, type SliceShared } from './recipient-calls.ts';
import { tellEndings } from './slice-endings.ts';
import { SliceLookout } from './slice-lookout.ts';

type TryPorts = CallPorts & Pick<RunPorts, 'slices' | 'remainingMs'>;

export interface OwnTry {
  readonly open: OpenSlice;
  readonly recipients: ReadonlyMap<number, TriedRecipient>;
  /** Is unique for each try: one that could not be recorded must not be claimed again by its own run. */
  readonly owner: string;
  readonly isFront: boolean;
}

export interface TriedSlice {
  readonly end: SliceEnd;
  /** All endings of the try are told. */
  readonly isTold: boolean;
}

/** One try of a slice: claims it, looks, calls each recipient at its turn, ends it, tells its endings. */
export class SliceRun {
  readonly #hand: TriedDispatch;
  readonly #open: OpenSlice;
  readonly #owner: string;
  readonly #recipients: ReadonlyMap<number, TriedRecipient>;
  readonly #shared: SliceShared;
  readonly #ports: TryPorts;
  readonly #lookout: SliceLookout;
  readonly #calls: RecipientCalls;
  /** The claim is looked at: from now on recipients wait for turns. */
  isReady = false;
  #whenReady: (() => void) | undefined;

  constructor(
    hand: TriedDispatch,
    { open, recipients, owner, isFront }: OwnTry,
    guarded: Pick<GuardedRun, 'send'> & { readonly holds: RunHolds },
    shared: SliceShared,
  ) {
    this.#hand = hand;
    this.#open = open;
    this.#recipients = recipients;
    this.#owner = owner;
    this.#shared = shared;
    const { process, ...ports } = shared.ports;
    this.#lookout = new SliceLookout(hand, recipients, shared);
    this.#ports = {
      ...ports,
      ...process,
      platform: { ...ports.platform, send: guarded.send },
      learning: learningPace({ ...process, paces: shared.number.paces }),
      holds: guarded.holds,
    };
    this.#calls = new RecipientCalls({ hand, open, isFront, lookout: this.#lookout }, shared, this.#ports);
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

  /** Never throws. */
  async run(): Promise<TriedSlice> {
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
      await this.#tell(end.slice);
      const { takenMs } = this.#calls;
      if (takenMs !== undefined) await this.#ports.holds.taken(this.#hand.facts, takenMs);
      return { end, isTold: true };
    } catch (error) {
      this.#ports.log('send.error', { error: errorName(error) });
      return { end, isTold: false };
    }
  }

  async #tell(slice: Slice): Promise<void> {
    const tried = { recipients: this.#recipients, spelled: this.#calls.spelled };
    await tellEndings(this.#hand.facts, slice, tried, this.#shared.ports);
  }

  #slicePorts(): SlicePorts {
    const { unknowns, nowMs, pause, remainingMs, random } = this.#ports;
    const slices = reportedSlices(this.#hand.facts.clientId, this.#ports);
    return {
      slices: { ...slices, end: (own, outcomes) => slices.end(own, outcomes, this.#calls.made) },
      look: (claim) => this.#look(claim),
      markUnknown: () => unknowns.mark(this.#hand.facts),
      proven: ({ key }) => unknowns.proven(key),
      tell: (late) => this.#tell(late),
      call: (recipient) => this.#calls.call(recipient),
      nowMs,
      mayRepeat: async (times) => {
        if (remainingMs() < writeBudgetMs) return false;
        await pause(Math.min(longestPauseMs, 500 * times));
        return true;
      },
      claimLifeMs,
      isStopped: () => this.#hand.state.stop !== undefined,
      retryMs: () => nowMs() + 1_000 * retryDelaySeconds({ pace: 'claims', attempt: 0 }, random()),
    };
  }

  async #look(claim: SliceClaim): Promise<SliceLook> {
    const [, proven] = await Promise.all([
      this.#lookout.look(),
      claim.try === 0 ? new Set<number>() : this.#ports.unknowns.proven(claim.key),
    ]);
    const { state, facts } = this.#hand;
    this.#ports.holds.saw(facts.wabaId, this.#shared.number.holdsOf(facts.wabaId));
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
    const callFacts = this.#hand.facts;
    const holds = this.#shared.number.holdsOf(callFacts.wabaId);
    const nowMs = this.#ports.nowMs();
    const standing = { dispatch: this.#hand.state, holds };
    const heldBack = heldBackBy(standing, { callFacts }, nowMs);
    if (heldBack !== undefined && heldBack.state !== 'again') return heldBack;
    const on = holdsOn(holds, holdableOf(callFacts));
    // Not even a probe leaves as it was composed before a review.
    if (isOutdated(holds, holdableOf(callFacts), composedMsOf(callFacts)))
      return heldBack ?? { state: 'again', dueMs: nowMs };
    if (heldBack === undefined || on.length === 0) return heldBack;
    const recipients = [...this.#recipients.values()].filter(({ index }) => !uncalled.has(placeInSlice(index)));
    this.#calls.asks = await probeHolds({ callFacts, recipients, on }, this.#ports);
    return this.#calls.asks === undefined ? heldBack : undefined;
  }
}

/** Only this run knows the outcomes, so it repeats the write while it has time. */
const longestPauseMs = 5_000;
const writeBudgetMs = 5_000;
