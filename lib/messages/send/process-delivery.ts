import { maxDelaySeconds } from '../../aws/queue-body.ts';
import { errorName } from '../../observe/error-name.ts';
import type { Sender } from '../../opt-outs/scope.ts';
import type { ChunkRecipient, ChunkSlice, QueuedChunk } from '../dispatch/chunk.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import { endOfTry, parkDelaySeconds, settlementOf } from '../dispatch/item-state.ts';
import { lost, type Outcome, placeInSlice, type SliceClaim, sliceAt } from '../dispatch/slice.ts';
import { composedMsOf, holdableOf } from '../holds/held-dispatch.ts';
import { holdsOn, isNowMarketing, isOutdated, mayCallProbe } from '../holds/hold.ts';
import { retryDelaySeconds } from '../pace/retry-delay.ts';
import { canonicalAddress } from '../request/recipient-address.ts';
import { callRecipient, pauseUntil, type SeenSnapshot } from './call-recipient.ts';
import { eventsOfEndings } from './chunk-events.ts';
import type { JudgedChunk } from './chunk-ports.ts';
import { claimLeadMs, isTrusted, ownTimeDelaySeconds, type SeenSchedule } from './chunk-time.ts';
import { type ChunkEnd, type ChunkPorts, runChunk } from './claims/run-chunk.ts';
import type { SliceLook } from './claims/run-slice.ts';
import { claimLifeMs, sendBudgetMs } from './deadlines.ts';
import { excludedIn } from './excluded-recipients.ts';
import { inboundOfEndings } from './inbound-of-endings.ts';
import type { Later, PlacedChunk } from './place-chunks.ts';
import { heldBackBy, type RunPorts } from './post-message.ts';
import { type ProbeCall, probeHolds } from './probe-holds.ts';
import { countPunctuality, withoutPlan } from './punctuality.ts';
import { reportedSlices } from './reported-slices.ts';

export interface WorkedChunk {
  readonly chunk: QueuedChunk;
  readonly placed: PlacedChunk;
  /** Each run and delivery has an owner of its own. */
  readonly owner: string;
}

export type DeliveryEnd =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'again'; readonly afterSeconds?: number };

const acknowledged: DeliveryEnd = { kind: 'acknowledged' };

/**
 * Requeues a placed delivery when its slot is far, else runs its slices. Throws when the queue cannot be reached: SQS
 * then delivers again.
 */
export async function processDelivery({ chunk, placed, owner }: WorkedChunk, ports: RunPorts): Promise<DeliveryEnd> {
  if (placed.kind === 'unplaced') return await afterStoreFailure(chunk, ports);
  if (placed.kind === 'held') {
    await ports.holds.park(chunk, placed.reason, placed.dispatch);
    return await queueLater({ ...placed, chunk: withoutPlan(placed.chunk) }, ports);
  }
  if (placed.kind === 'outdated') return await judgedAgain(placed.chunk, ports);
  if (placed.kind !== 'run') return await queueLater(placed, ports);
  if (ports.remainingMs() < sendBudgetMs) return { kind: 'again' };
  // Queued before the run: if the run dies, the delivery returns beside this copy.
  if (placed.rest !== undefined) await queueLater(placed.rest, ports);
  if (placed.slots.size > 0) void ports.platform.ready(chunk);
  const run = new ChunkRun(chunk, placed, ports);
  const { dispatchId, keptUntilMs } = chunk;
  const leaving = { dispatchId, slices: placed.leaves.map(({ slice }) => slice), keptUntilMs };
  return await afterRun(await runChunk(leaving, owner, run.ports()), chunk, ports);
}

/**
 * Waits no longer than the chunk lives, so that it ends in time. An expired chunk that cannot end yet waits as usual.
 */
async function queueLater({ chunk, delaySeconds, to }: Later, ports: RunPorts): Promise<DeliveryEnd> {
  const leftMs = (chunk.expiresAtMs ?? Number.POSITIVE_INFINITY) - ports.nowMs();
  const longestSeconds = leftMs > 0 ? Math.min(maxDelaySeconds, Math.ceil(leftMs / 1_000)) : maxDelaySeconds;
  await ports.queue.sendLater(chunk, Math.min(longestSeconds, delaySeconds), to);
  return acknowledged;
}

/** Waits as a copy, so that store failures use up none of the queue's deliveries (R17). */
async function afterStoreFailure(chunk: QueuedChunk, ports: RunPorts): Promise<DeliveryEnd> {
  const { storeFailures = 0 } = chunk;
  const delaySeconds = retryDelaySeconds({ pace: 'claims', attempt: storeFailures }, ports.random());
  return await queueLater({ chunk: { ...chunk, storeFailures: storeFailures + 1 }, delaySeconds }, ports);
}

/** Queues the chunk as its template is today, or stops its dispatch (D46, D56). */
async function judgedAgain(chunk: QueuedChunk, ports: RunPorts): Promise<DeliveryEnd> {
  let judged: JudgedChunk;
  try {
    judged = await ports.judgeAgain(chunk);
  } catch (error) {
    ports.log('send.not_judged_again', { dispatchId: chunk.dispatchId, error: errorName(error) });
    return await afterStoreFailure(chunk, ports);
  }
  if (judged.kind === 'refused') await ports.holds.stop(chunk, judged.stop);
  const next = judged.kind === 'refused' ? chunk : judged.chunk;
  return await queueLater({ chunk: withoutPlan(next), delaySeconds: 0 }, ports);
}

async function afterRun(end: ChunkEnd, chunk: QueuedChunk, ports: RunPorts) {
  if (end.kind === 'acknowledged') return acknowledged;
  if (end.atMs === undefined) return await afterStoreFailure({ ...chunk, slices: [...end.slices] }, ports);
  return { kind: 'again', afterSeconds: Math.max(1, Math.ceil((end.atMs - ports.nowMs()) / 1_000)) } as const;
}

class ChunkRun {
  readonly #chunk: QueuedChunk;
  readonly #placed: Extract<PlacedChunk, { kind: 'run' }>;
  readonly #ports: RunPorts;
  readonly #standings = new Map<number, SeenSnapshot>();
  readonly #looks = new Map<number, Promise<unknown>>();
  readonly #attempts = new Map<number, NonNullable<ChunkRecipient['attempts']>>();
  readonly #notThere = new Set<number>();
  readonly #claimAtMs: ReadonlyMap<number, number>;
  readonly #asking = new Map<number, ProbeCall>();
  readonly #spelled = new Map<number, string>();
  /** By slice, this try made this many calls to the platform. */
  readonly #calls = new Map<number, number>();
  #missed = false;
  /** A hold was met: what returns to the queue waits for it. */
  #isHeld = false;
  /** The dispatch had this state before one of its messages was taken. */
  #dispatchOfTaken: DispatchItemState | undefined;

  constructor(chunk: QueuedChunk, placed: Extract<PlacedChunk, { kind: 'run' }>, ports: RunPorts) {
    this.#chunk = chunk;
    this.#placed = placed;
    this.#ports = ports;
    const leadMs = claimLeadMs(chunk.missedSlots ?? 0);
    this.#claimAtMs = new Map(
      placed.leaves.map(({ slice, firstMs }) => [sliceAt(slice.recipients[0]?.index ?? 0), firstMs - leadMs]),
    );
  }

  ports(): ChunkPorts {
    const ports = this.#ports;
    const { unknowns, nowMs } = ports;
    const slices = reportedSlices(this.#chunk.clientId, ports);
    return {
      slices: {
        ...slices,
        claim: async (claim) => {
          await pauseUntil(this.#claimAtMs.get(claim.key.slice) ?? 0, ports);
          return await slices.claim({ ...claim, atMs: nowMs() });
        },
        end: async (own, outcomes) => await slices.end(own, outcomes, this.#calls.get(own.key.slice)),
      },
      look: async (claim) => await this.#look(claim),
      markUnknown: async () => await unknowns.mark(this.#chunk),
      proven: async ({ key }) => await unknowns.proven(key),
      call: async (recipient) => await this.#call(recipient),
      emit: async (endings, recorded) => {
        await ports.noteSent(this.#chunk, endings);
        const { wabaId, phoneNumberId } = this.#chunk;
        const words = inboundOfEndings(this.#chunk, endings, { slices: recorded, spelled: this.#spelled });
        if (words.length > 0) await ports.people.inbound.send([{ wabaId, phoneNumberId, words }]);
        const events = eventsOfEndings(this.#chunk, endings, { slices: recorded, nowMs: nowMs() });
        if (events.length > 0) await ports.events.send(events);
        if (this.#chunk.straight) await ports.countEnded(this.#chunk, recorded);
        if (this.#dispatchOfTaken !== undefined) await ports.holds.taken(this.#chunk, this.#dispatchOfTaken);
      },
      queueAgain: async (again, atMs) => await this.#queueAgain(again, atMs),
      nowMs,
      mayRepeat: async (times) => {
        if (times === mostWrites || ports.remainingMs() < writeBudgetMs) return false;
        await ports.pause(Math.min(longestPauseMs, 500 * times));
        return true;
      },
      claimLifeMs,
      retryMs: () => nowMs() + 1_000 * retryDelaySeconds({ pace: 'claims', attempt: 0 }, ports.random()),
    };
  }

  async #look(claim: SliceClaim): Promise<SliceLook> {
    const { unknowns } = this.#ports;
    const [stopped, proven] = await Promise.all([
      this.#readClaimed(claim.key.slice),
      claim.try === 0 ? new Set<number>() : unknowns.proven(claim.key),
    ]);
    const { dispatch } = this.#standingOf(claim.key.slice);
    if (this.#chunk.straight && !dispatch.begun) await this.#ports.dispatches.beginStraight(this.#chunk);
    const stop = endOfTry(dispatch, { slice: claim.key.slice, try: claim.try });
    const ofDead = stop === undefined ? lost : settlementOf(stop);
    const recipients = this.#recipientsOf(claim.key.slice);
    const barred = excludedIn(recipients, { stopped, erased: dispatch.erased });
    const uncalled = new Set([...proven, ...barred.keys()]);
    return { heldBack: () => this.#heldBack(claim, uncalled), proven, barred, ofDead };
  }

  /**
   * Returns the outcome of uncalled recipients of a claimed slice. If it is held, one may be called as a probe (D46).
   */
  async #heldBack({ key: { slice } }: SliceClaim, uncalled: ReadonlySet<number>): Promise<Outcome | undefined> {
    const chunk = this.#chunk;
    const standing = this.#standingOf(slice);
    const heldBack = heldBackBy(standing, { chunk }, this.#ports.nowMs());
    const message = holdableOf(chunk);
    const on = holdsOn(standing.holds, message);
    if (heldBack !== undefined && heldBack.state !== 'again') return heldBack;
    const isOld = isOutdated(standing.holds, message, composedMsOf(chunk));
    if (heldBack !== undefined || isOld) this.#isHeld = true;
    // Not even a probe leaves as it was composed before a review.
    if (isOld) return heldBack ?? { state: 'again', dueMs: this.#ports.nowMs() };
    if (heldBack === undefined || on.length === 0) return heldBack;
    const recipients = this.#recipientsOf(slice).filter(({ index }) => !uncalled.has(placeInSlice(index)));
    const asking = await probeHolds({ chunk, recipients, on, dispatch: standing.dispatch }, this.#ports);
    if (asking === undefined) return heldBack;
    this.#asking.set(slice, asking);
    return undefined;
  }

  #recipientsOf(slice: number): ChunkRecipient[] {
    const recipients = this.#placed.leaves.flatMap((leaving) => leaving.slice.recipients);
    return recipients.filter(({ index }) => sliceAt(index) === slice);
  }

  /**
   * Reads dispatch and holds after the claim; the number if a slot may have moved; opt-outs if the chunk heeds them and
   * the sender has any, or its template has become MARKETING (D42, D55).
   */
  async #readClaimed(slice: number): Promise<ReadonlySet<string>> {
    const { slots, seen } = this.#placed;
    const isFixed = [...slots].every(([index, slot]) => sliceAt(index) !== slice || isTrusted(slot, seen));
    const optOutsOf = this.#chunk.heedsOptOuts ? this.#chunk : undefined;
    const anyStops = await this.#read(slice, { seen: isFixed ? seen : undefined, optOutsOf });
    // A template that became MARKETING under way is rare, so nothing is read for it before.
    const isMarketing = isNowMarketing(this.#standingOf(slice).holds, holdableOf(this.#chunk));
    return anyStops || isMarketing ? await this.#stoppedIn(slice) : new Set();
  }

  async #stoppedIn(slice: number): Promise<ReadonlySet<string>> {
    const { people, log } = this.#ports;
    const addressees = this.#recipientsOf(slice).flatMap(({ to }) => (to === undefined ? [] : [canonicalAddress(to)]));
    const looking = people.stoppedAmong(this.#chunk, addressees).catch((error: unknown) => {
      log('send.opt_outs_not_read', { error: errorName(error) });
      throw error;
    });
    return new Set((await looking).keys());
  }

  /** `seen` is the schedule that is still valid. Returns whether the sender in `optOutsOf` has opt-outs. */
  async #read(
    slice: number,
    { seen, optOutsOf }: { readonly seen?: SeenSchedule; readonly optOutsOf?: Sender } = {},
  ): Promise<boolean> {
    const { wabaId, dispatchId, phoneNumberId } = this.#chunk;
    const readAtMs = this.#ports.nowMs();
    const looking = this.#ports.dispatches.look({
      wabaId,
      dispatchIds: [dispatchId],
      ...(seen === undefined ? { phoneNumberId } : {}),
      optOutsOf,
    });
    const { pace, dispatches, holds, anyStops } = await looking.catch((error: unknown) => {
      this.#ports.log('send.dispatch_not_read', { error: errorName(error) });
      throw error;
    });
    this.#ports.holds.saw(wabaId, holds);
    const schedule = seen ?? { schedule: pace.schedule, readAtMs };
    this.#standings.set(slice, { ...schedule, dispatch: dispatches.get(dispatchId) ?? {}, holds });
    return anyStops;
  }

  async #readAgain(slice: number): Promise<void> {
    const reading = this.#looks.get(slice) ?? this.#read(slice).finally(() => this.#looks.delete(slice));
    this.#looks.set(slice, reading);
    await reading;
  }

  #standingOf(slice: number): SeenSnapshot {
    const standing = this.#standings.get(slice);
    if (standing === undefined) throw new Error('a slice is called that was not looked at');
    return standing;
  }

  async #call(recipient: ChunkRecipient): Promise<Outcome> {
    const slice = sliceAt(recipient.index);
    const asks = this.#asking.get(slice);
    // One message is the probe; the others wait as if another worker probed.
    if (asks !== undefined && asks.index !== recipient.index) return this.#waiting(slice);
    const called = {
      chunk: this.#chunk,
      recipient,
      slot: this.#placed.slots.get(recipient.index),
      standing: () => this.#standingOf(slice),
      lookAgain: () => this.#readAgain(slice),
      mayAsk: asks && (() => mayCallProbe(asks.probe, this.#ports.nowMs())),
    };
    const ended = await callRecipient(called, this.#ports);
    const { outcome, attempts, missed, waId, result = 'unclear' } = ended;
    if (ended.notThere) this.#notThere.add(recipient.index);
    if (ended.result !== undefined) this.#calls.set(slice, (this.#calls.get(slice) ?? 0) + 1);
    countPunctuality(this.#chunk, recipient, ended, this.#ports.nowMs());
    // A hold refused the message, which does not count as a try.
    if (outcome.state === 'again' && ended.result === 'refused' && attempts === undefined) this.#isHeld = true;
    if (asks !== undefined) await this.#ports.holds.answered(this.#chunk, asks.probe, result);
    if (waId !== undefined) this.#spelled.set(recipient.index, waId);
    if (attempts !== undefined) this.#attempts.set(recipient.index, attempts);
    if (missed) {
      this.#missed = true;
      this.#ports.log('send.slot_missed', {});
    }
    if (outcome.state === 'sent') this.#dispatchOfTaken ??= this.#standingOf(slice).dispatch;
    return outcome;
  }

  #waiting(slice: number): Outcome {
    const nowMs = this.#ports.nowMs();
    const again = { state: 'again', dueMs: nowMs + 1_000 * parkDelaySeconds(0) } as const;
    return heldBackBy(this.#standingOf(slice), { chunk: this.#chunk }, nowMs) ?? again;
  }

  /** Recipients that are tried again need new slots: theirs have passed. */
  async #queueAgain(again: readonly ChunkSlice[], dueMs: number): Promise<void> {
    const { missedSlots = 0, storeFailures: _over, ...chunk } = this.#isHeld ? withoutPlan(this.#chunk) : this.#chunk;
    const slices = again.map(({ position: _passed, isLate: _too, ...slice }) => ({
      ...slice,
      recipients: slice.recipients.map((recipient) => {
        const attempts = this.#attempts.get(recipient.index) ?? recipient.attempts;
        const notThere = this.#notThere.has(recipient.index) ? (true as const) : recipient.notThere;
        return { ...recipient, attempts, notThere };
      }),
    }));
    const missed = this.#missed ? { missedSlots: missedSlots + 1 } : {};
    const delaySeconds = ownTimeDelaySeconds(dueMs, this.#ports.nowMs());
    await queueLater({ chunk: { ...chunk, ...missed, slices }, delaySeconds }, this.#ports);
  }
}

/** Only this run knows the outcomes, so it repeats the write while it has time. */
const mostWrites = 15;
const longestPauseMs = 5_000;
const writeBudgetMs = 5_000;
