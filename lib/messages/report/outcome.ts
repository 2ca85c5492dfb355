import { present } from '../../keys/present.ts';
import {
  isWithdrawn,
  lost,
  placeInSlice,
  provenByReceipt,
  type Recorded,
  type Slice,
  sliceOf,
} from '../dispatch/claims/slice.ts';
import { claimLifeMs } from '../dispatch/deadlines.ts';
import { dispatchIdOf, type JobHead } from '../job.ts';
import { type Ending, endOfTry, type JobState, type UnderWay } from '../job-state.ts';
import { lotAt, standingAt } from '../lots.ts';
import type { Proven } from '../receipts/fold.ts';
import {
  type OwnOutcome,
  type ReportedOutcome as ReportedFacts,
  type ReportedState,
  reportedOutcome,
  reportedStates,
} from '../receipts/reported-state.ts';

/** How one recipient's message ended on our side (D29), carried further by what the platform told later (D39). */
export interface ReportedOutcome extends ReportedFacts {
  readonly dispatchId: string;
  readonly to?: string;
}

/** What is written of some messages of a job. */
export interface WrittenMessages {
  readonly slices: ReadonlyMap<number, Slice>;
  readonly proofs: ReadonlyMap<number, Proven>;
  /** When this was asked for: the claimant of a claim that was too old by then was dead when it was read. */
  readonly askedAtMs: number;
}

/** Tells what became of the messages that were read, by their index in the job. */
export type OutcomeAt = (index: number) => ReportedOutcome;

/** The outcomes of what was read of a job, which was itself read before or beside it. Undefined for one that was taken back (D25). */
export function outcomesOf(
  job: OpenJob & { readonly head: Pick<JobHead, 'jobId' | 'expiresAtMs'> },
  { slices, proofs, askedAtMs }: WrittenMessages,
): OutcomeAt | undefined {
  if ([...slices.values()].some(isWithdrawn)) return undefined;
  const { jobId, expiresAtMs } = job.head;
  const open = { expiresAtMs, ...job };
  return (index) => {
    const key = { jobId, index };
    const own = outcomeOf(index, { slice: slices.get(sliceOf(key).slice), job: open }, askedAtMs);
    return { dispatchId: dispatchIdOf(key), ...reportedOutcome(own, proofs.get(index)) };
  };
}

/**
 * The outcome of one message of a job, from its slice. What stands there is said, also while the slice is tried again for the
 * sake of others. An open place is pending while a try is claimed, and unknown once the claimant cannot be running any more.
 * Otherwise it is as its job is (D46, D53): of a stopped job pending until it is certain that nothing leaves any more
 * (items.ts, `mayReckon`), then as the stop says, unless its try was under way then. What may not leave now says when it may (D56).
 */
export function outcomeOf(
  index: number,
  { slice, job }: { readonly slice: Slice | undefined; readonly job: OpenJob },
  nowMs: number,
): OwnOutcome {
  const known = slice?.outcomes[placeInSlice(index)];
  if (slice !== undefined && known !== undefined && known.state !== 'again') return said(known, slice);
  const stopped = endOfTry(job, { slice: sliceOf({ jobId: '', index }).slice, try: decidingTry(slice) });
  if (stopped !== undefined) return stopped;
  if (slice?.state !== 'claimed') {
    const scheduledForMs = nextOpeningMs(index, job, nowMs);
    if (scheduledForMs !== undefined) return { state: 'pending', code: scheduled, scheduledForMs };
    return { state: 'pending', ...present({ code: job.parked?.code }) };
  }
  return nowMs < slice.atMs + claimLifeMs ? { state: 'pending' } : said(lost, slice);
}

/** How a job stands whose recipients are open: with the lots of a send with a time of its own, and its time to live. */
export interface OpenJob extends JobState, Ending {}

/** The code of what waits for its time. */
const scheduled = 'scheduled';

/** When a recipient may leave that may not now; undefined where it may, or never will. */
function nextOpeningMs(index: number, { lots, expiresAtMs = Number.POSITIVE_INFINITY }: OpenJob, nowMs: number) {
  const standing = lots && standingAt(lotAt(lots, index).open, nowMs);
  return standing?.kind === 'closed' && standing.opensAtMs < expiresAtMs ? standing.opensAtMs : undefined;
}

/** The try that decides on what is open: the one that is claimed, else the next. */
function decidingTry(slice: Slice | undefined): number {
  if (slice === undefined) return 0;
  return slice.state === 'claimed' ? slice.try : slice.try + 1;
}

type Said = Exclude<Recorded, { readonly state: 'again' }>;

/** What stands of a message, with the time of its settlement or else of its claim. Of a receipt's word the time is the receipt's. */
function said(outcome: Said, slice: Slice): OwnOutcome {
  const atMs = outcome.resolvedAtMs ?? slice.atMs;
  if (outcome.state !== 'sent') {
    const { state, code, reason } = outcome;
    return { state, code, ...present({ reason }), atMs };
  }
  const { platformMessageId, held, code } = outcome;
  const id = present({ platformMessageId });
  if (held !== undefined) return { state: 'held', code: held, ...id, atMs };
  if (code === provenByReceipt.code) return { state: 'sent', ...id };
  return { state: 'sent', ...present({ code }), ...id, atMs };
}

/**
 * The tries of which a recipient may have been called and is not recorded, of a job that was stopped before its slices were
 * read, strongly: those that are claimed (items.ts, `mayReckon`).
 */
export function underWayIn({ slices }: Pick<WrittenMessages, 'slices'>): UnderWay {
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
