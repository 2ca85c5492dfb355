import { errorName } from '../../observe/error-name.ts';
import type { ChunkRecipient, ChunkSlice, QueuedChunk } from '../dispatch/chunk.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import { byHolds, composedMsOf, holdableOf, type ParkReason, reasonOf } from '../holds/held-dispatch.ts';
import { type HeldBy, type Holds, holdsOn, isOutdated, isProbeDue, noHolds } from '../holds/hold.ts';
import { blockedUntilMs, isAnsweringSlowly, type NumberPace, recipientHashOf } from '../pace/number-pace.ts';
import { emptySchedule, type Schedule, trustedFromMs, trustedUntilMs } from '../pace/schedule.ts';
import { pauseUntil } from './call-recipient.ts';
import { isUndue, outsideOf, withOpenings } from './chunk-openings.ts';
import type { ChunkWorkerPorts, RunProcess, SendSnapshot } from './chunk-ports.ts';
import {
  firstDueMs,
  firstSlotMs,
  longestStayMs,
  ownTimeDelaySeconds,
  partedBySlots,
  queueDelaySeconds,
  type SeenSchedule,
  type Slot,
  slotsOf,
  type TimedSlice,
  withPosition,
} from './chunk-time.ts';
import { lateness } from './deadlines.ts';
import { withoutErased } from './excluded-recipients.ts';
import { withoutPlan } from './punctuality.ts';
import { dueOf, type Known, reserveMissing, type WaitingChunk } from './reserve-slots.ts';

type Ports = Pick<ChunkWorkerPorts, 'isOfSmallRequests' | 'dispatches' | 'numbers'> &
  Pick<RunProcess, 'nowMs' | 'pause' | 'log'>;

export interface Later {
  readonly chunk: QueuedChunk;
  readonly delaySeconds: number;
  /** Sends even a code to the workers of dispatches. */
  readonly to?: 'dispatches';
}

export type PlacedChunk =
  | ({ readonly kind: 'later' } & Later)
  /** The messages are held; the worker parks the dispatch unless it is parked. */
  | ({ readonly kind: 'held'; readonly reason: ParkReason; readonly dispatch: DispatchItemState } & Later)
  /** These slices leave now, in this order and these slots. Without slots, no recipient is called. */
  | {
      readonly kind: 'run';
      readonly leaves: readonly TimedSlice[];
      readonly slots: ReadonlyMap<number, Slot>;
      readonly seen: SeenSchedule;
      readonly rest?: Later;
    }
  /** The template was in review since the messages were composed: they are judged again (D46, D56). */
  | { readonly kind: 'outdated'; readonly chunk: QueuedChunk }
  /** Number or dispatch could not be read, or no slot could be reserved. */
  | { readonly kind: 'unplaced' };

interface Placing extends WaitingChunk {
  readonly place: (placed: PlacedChunk) => void;
  /** These slices do not leave with the probe of a hold. */
  rest?: Later;
}

/** A run reads a number no more often: some reads fall while slots are far away, some while writes are slow. */
const mostLooks = 10;

/**
 * Places a run's chunks in time. Per number: one read, one write for missing slots, and another read before a first
 * slot that may still move. Never rejects.
 */
export function placeChunks(chunks: readonly QueuedChunk[], ports: Ports): Promise<PlacedChunk>[] {
  const places = chunks.map((chunk) => {
    const { promise, resolve } = Promise.withResolvers<PlacedChunk>();
    const missedSlots = chunk.missedSlots ?? 0;
    const waiting: Placing = { chunk, slots: slotsOf(chunk), missedSlots, place: resolve };
    return { waiting, promise };
  });
  const numbers = Map.groupBy(
    places.map(({ waiting }) => waiting),
    ({ chunk }) => chunk.phoneNumberId,
  );
  for (const [phoneNumberId, ofNumber] of numbers) {
    placeOfNumber(phoneNumberId, ofNumber, ports).catch((error: unknown) => {
      ports.log('send.pace_failed', { count: ofNumber.length, error: errorName(error) });
      for (const { place } of ofNumber) place({ kind: 'unplaced' });
    });
  }
  return places.map(({ promise }) => promise);
}

async function placeOfNumber(phoneNumberId: string, all: readonly Placing[], ports: Ports): Promise<void> {
  let open = all;
  for (let look = 1; open.length > 0; look += 1) {
    if (look > mostLooks) throw new Error('no slot of the number was reached in time');
    const readAtMs = ports.nowMs();
    const { pace: found, holds, dispatches } = await lookAt(phoneNumberId, open, ports);
    const nowMs = ports.nowMs();
    if (ports.isOfSmallRequests && isAnsweringSlowly(found, nowMs)) {
      for (const { chunk, rest, place } of open) {
        place(withRest({ kind: 'later', chunk, delaySeconds: 0, to: 'dispatches' }, rest));
      }
      return;
    }
    open = open.filter((waiting) => {
      const dispatch = dispatches.get(waiting.chunk.dispatchId) ?? {};
      const placed = placedWithoutSlot(waiting, { dispatch, holds, pace: found, readAtMs, nowMs });
      if (placed !== undefined) waiting.place(withRest(placed, waiting.rest));
      return placed === undefined;
    });
    const pace = await reserveMissing(phoneNumberId, { open, pace: found, nowMs }, ports);
    const atMs = ports.nowMs();
    // A new slot may lie behind the end of an opening.
    for (const waiting of open) waiting.chunk = withOpenings(waiting.chunk, { ...waiting, ...pace, nowMs: atMs });
    const untrustedMs: number[] = [];
    open = open.filter((waiting) => {
      const placed = placedBySlots(waiting, {
        pace,
        readAtMs,
        nowMs: atMs,
        stayMs: longestStayMs(waiting.chunk, ports),
      });
      if (typeof placed === 'number') untrustedMs.push(placed);
      else waiting.place(withRest(placed, waiting.rest));
      return typeof placed === 'number';
    });
    if (open.length > 0) await pauseUntil(trustedFromMs(Math.min(...untrustedMs)), ports);
  }
}

/**
 * A fresh straight request is read only after its claim: reading it here could save two writes and a slot, but costs
 * each request a read (D46, D53).
 */
async function lookAt(phoneNumberId: string, open: readonly WaitingChunk[], ports: Ports): Promise<SendSnapshot> {
  const dispatchIds = open.flatMap(({ chunk }) => (isFirstOfStraight(chunk) ? [] : [chunk.dispatchId]));
  const [first] = open;
  if (first !== undefined && dispatchIds.length > 0) {
    return await ports.dispatches.look({ wabaId: first.chunk.wabaId, phoneNumberId, dispatchIds });
  }
  return {
    pace: await ports.numbers.paces.find(phoneNumberId),
    holds: noHolds,
    dispatches: new Map(),
    anyStops: false,
  };
}

function isFirstOfStraight({ straight, slices }: QueuedChunk): boolean {
  return straight === true && slices.every((slice) => slice.try === 0);
}

/** Returns a placement without a slot: the chunk waits for a hold or recipients, or none is called any more. */
function placedWithoutSlot(
  waiting: Placing,
  {
    dispatch,
    holds,
    pace,
    readAtMs,
    nowMs,
  }: Known & { readonly dispatch: DispatchItemState; readonly holds: Holds; readonly readAtMs: number },
): PlacedChunk | undefined {
  const { chunk } = waiting;
  if (lateness({ ...chunk, attempt: 0 }, nowMs) !== undefined) return uncalled(chunk, pace.schedule, readAtMs);
  const on = holdsOn(holds, holdableOf(chunk));
  const by = byHolds(dispatch, on, chunk, nowMs);
  if (by.kind === 'settle') return uncalled(chunk, pace.schedule, readAtMs);
  waiting.chunk = withOpenings(withBlockedPersons(chunk, pace, nowMs), { ...waiting, ...pace, nowMs });
  // Closed recipients meet no hold, so their dispatch is not parked for it.
  if (chunk.lots !== undefined && isUndue(waiting.chunk, nowMs)) {
    return untilDue(withoutErased(chunk, dispatch), waiting.chunk, nowMs);
  }
  const isInReview = on.some(({ hold }) => hold.byReading);
  if (!isInReview && isOutdated(holds, holdableOf(chunk), composedMsOf(chunk))) return { kind: 'outdated', chunk };
  const held =
    by.kind === 'wait' ? whileHeld(waiting, { dispatch, on, delaySeconds: by.delaySeconds, nowMs }) : undefined;
  if (held !== undefined) return held;
  return isUndue(waiting.chunk, nowMs) ? untilDue(chunk, waiting.chunk, nowMs) : undefined;
}

/** Returns the chunk unchanged until one recipient is due, as far as is known now. */
function untilDue(chunk: QueuedChunk, known: QueuedChunk, nowMs: number): PlacedChunk {
  return { kind: 'later', chunk, delaySeconds: ownTimeDelaySeconds(firstDueMs(known), nowMs) };
}

/** Returns the chunk as waiting if all its recipients wait for an opening (D56), else undefined. */
export function waitingForOpening(chunk: QueuedChunk, nowMs: number): PlacedChunk | undefined {
  const waiting = withOpenings(chunk, { slots: new Map(), schedule: emptySchedule, nowMs });
  return chunk.lots !== undefined && isUndue(waiting, nowMs) ? untilDue(chunk, waiting, nowMs) : undefined;
}

/** Everything ends without a call. `readAtMs` is when `schedule` was read. */
export function uncalled(chunk: QueuedChunk, schedule: Schedule, readAtMs: number): PlacedChunk {
  const leaves = chunk.slices.map((slice) => ({ slice, firstMs: readAtMs }));
  return { kind: 'run', leaves, slots: new Map(), seen: { schedule, readAtMs } };
}

interface HeldChunk {
  readonly dispatch: DispatchItemState;
  /** The widest hold comes first. */
  readonly on: readonly HeldBy[];
  readonly delaySeconds: number;
  readonly nowMs: number;
}

/** Held slices wait. When a probe is due, one slice goes on and the others wait: undefined. */
function whileHeld(waiting: Placing, { dispatch, on, delaySeconds, nowMs }: HeldChunk): PlacedChunk | undefined {
  const { chunk } = waiting;
  const asks = on.every(({ hold }) => isProbeDue(hold, nowMs));
  const asker = asks ? chunk.slices.find((slice) => mayAskIn(slice, chunk, nowMs)) : undefined;
  const [widest] = on;
  if (asker === undefined && widest !== undefined) {
    return { kind: 'held', reason: reasonOf(widest.scope, widest.hold.code), dispatch, chunk, delaySeconds };
  }
  const others = chunk.slices.filter((slice) => slice !== asker);
  const unplanned = withoutPlan(chunk);
  if (others.length > 0) waiting.rest = { chunk: { ...unplanned, slices: others }, delaySeconds };
  waiting.chunk = { ...unplanned, slices: chunk.slices.filter((slice) => slice === asker) };
  return undefined;
}

function mayAskIn(slice: ChunkSlice, chunk: QueuedChunk, nowMs: number): boolean {
  return dueOf(slice, nowMs).some((recipient) => outsideOf(chunk, recipient, nowMs) === undefined);
}

/** Adds the slices that do not leave with the probe. If the probe is queued again, they join its message. */
function withRest(placed: PlacedChunk, rest: Later | undefined): PlacedChunk {
  if (rest === undefined || placed.kind === 'unplaced') return placed;
  if (placed.kind === 'run') return { ...placed, rest };
  return { ...placed, chunk: { ...placed.chunk, slices: [...placed.chunk.slices, ...rest.chunk.slices] } };
}

/** The number may not write to some people before a certain time (131056). */
function withBlockedPersons(chunk: QueuedChunk, pace: NumberPace, nowMs: number): QueuedChunk {
  if (pace.pairs.length === 0) return chunk;
  const later = (recipient: ChunkRecipient): ChunkRecipient => {
    if (recipient.to === undefined) return recipient;
    const untilMs = blockedUntilMs(pace, recipientHashOf(recipient.to), nowMs) ?? 0;
    return untilMs > (recipient.notBeforeMs ?? 0) ? { ...recipient, notBeforeMs: untilMs } : recipient;
  };
  return { ...chunk, slices: chunk.slices.map((slice) => ({ ...slice, recipients: slice.recipients.map(later) })) };
}

/** Returns the slots of a chunk's slices, or the time of the first slot while other writers may still move it. */
function placedBySlots(
  waiting: WaitingChunk,
  { pace: { schedule }, readAtMs, nowMs, stayMs }: Known & { readonly readAtMs: number; readonly stayMs: number },
): PlacedChunk | number {
  const { chunk, slots } = waiting;
  const timed = chunk.slices.flatMap((slice): TimedSlice[] => {
    if (dueOf(slice, nowMs).length === 0) return [];
    return [{ slice, firstMs: firstSlotMs(slice, slots, { schedule, nowMs }) ?? 0 }];
  });
  const missed = timed.filter(({ firstMs }) => firstMs === 0);
  if (missed.length > 0) {
    waiting.missedSlots += 1;
    return 0;
  }
  const { leaves, waits } = partedBySlots(timed, { nowMs, stayMs });
  const [first] = leaves;
  const undue = chunk.slices.filter((slice) => dueOf(slice, nowMs).length === 0);
  const later = (slices: readonly TimedSlice[], others: readonly ChunkSlice[]): Later => {
    const dueMs = Math.min(...slices.map(({ firstMs }) => firstMs));
    const all = { ...chunk, slices: [...slices.map(({ slice }) => withPosition(slice, slots, chunk)), ...others] };
    const delaySeconds =
      slices.length > 0 ? queueDelaySeconds(dueMs, nowMs) : ownTimeDelaySeconds(firstDueMs(all), nowMs);
    return { chunk: all, delaySeconds };
  };
  if (first === undefined) return { kind: 'later', ...later(waits, undue) };
  const isTrusted = 'atMs' in (slots.get(first.slice.recipients[0]?.index ?? -1) ?? {});
  if (!isTrusted && first.firstMs >= trustedUntilMs(readAtMs)) return first.firstMs;
  const hasRest = waits.length + undue.length > 0;
  const seen = { schedule, readAtMs };
  return { kind: 'run', leaves, slots, seen, ...(hasRest ? { rest: later(waits, undue) } : {}) };
}
