import { type DispatchHead, messageIdOf } from '../dispatch/head.ts';
import type { DispatchItem, DispatchItemState } from '../dispatch/item.ts';
import { type Ending, endOfTry } from '../dispatch/item-state.ts';
import { lotAt, openingStateAt } from '../dispatch/lots.ts';
import {
  isWithdrawn,
  lost,
  placeInSlice,
  provenByReceipt,
  type Recorded,
  type Slice,
  sliceOf,
} from '../dispatch/slice.ts';
import type { Proven } from '../receipts/fold-receipts.ts';
import {
  type OwnOutcome,
  type ReportedOutcome as ReportedFacts,
  type ReportedState,
  reportedOutcome,
  reportedStates,
} from '../receipts/reported-state.ts';
import { claimLifeMs } from '../send/deadlines.ts';

/** The platform's receipts (D39) advance a recipient's outcome on our side (D29). */
export interface ReportedOutcome extends ReportedFacts {
  readonly messageId: string;
  readonly to?: string;
}

export interface WrittenMessages {
  readonly slices: ReadonlyMap<number, Slice>;
  readonly proofs: ReadonlyMap<number, Proven>;
  /** The read had this time: a claim that was too old by then had a dead claimant. */
  readonly askedAtMs: number;
}

export type OutcomeAt = (index: number) => ReportedOutcome;

/**
 * Returns outcomes from one read of a dispatch, which was read before or beside it. Returns undefined for a withdrawn
 * dispatch (D25).
 */
export function outcomesOf(
  dispatch: DispatchItemState & Ending & { readonly head: Pick<DispatchHead, 'dispatchId' | 'expiresAtMs'> },
  { slices, proofs, askedAtMs }: WrittenMessages,
): OutcomeAt | undefined {
  if ([...slices.values()].some(isWithdrawn)) return undefined;
  const { dispatchId, expiresAtMs } = dispatch.head;
  const open = { expiresAtMs, ...dispatch };
  return (index) => {
    const key = { dispatchId, index };
    const own = outcomeOf(index, { slice: slices.get(sliceOf(key).slice), dispatch: open }, askedAtMs);
    return { messageId: messageIdOf(key), ...reportedOutcome(own, proofs.get(index)) };
  };
}

/**
 * A recorded outcome counts, also while its slice is tried again for others. Otherwise a claimed try is pending, and
 * `unknown` once its claimant must be dead.
 */
export function outcomeOf(
  index: number,
  { slice, dispatch }: { readonly slice: Slice | undefined; readonly dispatch: DispatchItemState & Ending },
  nowMs: number,
): OwnOutcome {
  const known = slice?.outcomes[placeInSlice(index)];
  if (slice !== undefined && known !== undefined && known.state !== 'again') return recordedOutcome(known, slice);
  // A stopped dispatch's open message is pending until nothing can leave, then ends as stopped unless its try was under
  // way (item-writes.ts, `reckon`; D46, D53).
  const stopped = endOfTry(dispatch, { slice: sliceOf({ dispatchId: '', index }).slice, try: decidingTry(slice) });
  if (stopped !== undefined) return stopped;
  if (slice?.state !== 'claimed') {
    // A message outside its opening shows when it may leave (D56).
    const scheduledForMs = nextOpeningMs(index, dispatch, nowMs);
    if (scheduledForMs !== undefined) return { state: 'pending', code: scheduled, scheduledForMs };
    return { state: 'pending', code: dispatch.parked?.code };
  }
  return nowMs < slice.atMs + claimLifeMs ? { state: 'pending' } : recordedOutcome(lost, slice);
}

/** A message that waits for its opening has this code. */
const scheduled = 'scheduled';

/** Returns when a closed recipient may leave, or undefined if open now or never. */
function nextOpeningMs(index: number, { lots, expiresAtMs = Number.POSITIVE_INFINITY }: Ending, nowMs: number) {
  const standing = lots && openingStateAt(lotAt(lots, index).open, nowMs);
  return standing?.kind === 'closed' && standing.opensAtMs < expiresAtMs ? standing.opensAtMs : undefined;
}

/** Returns the try that decides open outcomes: the claimed one, else the next. */
function decidingTry(slice: Slice | undefined): number {
  if (slice === undefined) return 0;
  return slice.state === 'claimed' ? slice.try : slice.try + 1;
}

type Said = Exclude<Recorded, { readonly state: 'again' }>;

/**
 * Returns the stored outcome, with the time of its settlement or claim. For a receipt's proof the receipt's time
 * counts.
 */
function recordedOutcome(outcome: Said, slice: Slice): OwnOutcome {
  const atMs = outcome.resolvedAtMs ?? slice.atMs;
  if (outcome.state !== 'sent') {
    const { state, code, reason } = outcome;
    return { state, code, reason, atMs };
  }
  const { platformMessageId, held, code } = outcome;
  const id = { platformMessageId };
  if (held !== undefined) return { state: 'held', code: held, ...id, atMs };
  if (code === provenByReceipt.code) return { state: 'sent', ...id };
  return { state: 'sent', code, ...id, atMs };
}

/**
 * Returns the claimed tries of a stopped dispatch, from a strong read after the stop: their recipients may have been
 * called (item-writes.ts, `reckon`).
 */
export function underWayIn({ slices }: Pick<WrittenMessages, 'slices'>): Required<DispatchItem>['underWay'] {
  const claimed = [...slices.values()].filter(({ state }) => state === 'claimed');
  return Object.fromEntries(claimed.map(({ key, try: tried }) => [String(key.slice), tried]));
}

export type OutcomeCounts = Readonly<Record<ReportedState, number>>;

export function countStates(states: Iterable<ReportedState>): OutcomeCounts {
  const counts = Object.fromEntries(reportedStates.map((state) => [state, 0])) as Record<ReportedState, number>;
  for (const state of states) counts[state] += 1;
  return counts;
}

export function totalOf(counts: OutcomeCounts): number {
  return reportedStates.reduce((sum, state) => sum + counts[state], 0);
}
