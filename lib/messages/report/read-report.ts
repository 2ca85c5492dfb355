import { Refusal } from '../../http/refusal.ts';
import type { KnownRates } from '../../pricing/rates-of-day.ts';
import { dispatchIdPattern } from '../dispatch/head.ts';
import type { DispatchProgress } from '../sender/tell-end.ts';
import { type Cost, costOf, marketAt, releasedHead } from './cost.ts';
import { type DescribedDispatch, isStoppedLately, placesOf } from './described-dispatch.ts';
import {
  countStates,
  type OutcomeAt,
  type OutcomeCounts,
  outcomesOf,
  underWayIn,
  type WrittenMessages,
} from './outcome.ts';
import { type DispatchStatus, type ReportPage, reportPage } from './report.ts';
import { partitionsOf, partitionsOfDispatch, type ReportPlace, type ReportQuery } from './report-cursor.ts';
import type { Report } from './report-store.ts';

export interface ReportPorts {
  readonly report: Report;
  readonly rates: () => Promise<KnownRates>;
  readonly nowMs: () => number;
}

/** A later page has its messages from the same round trip as the dispatch. */
export interface OpenReport {
  readonly dispatch: DescribedDispatch;
  readonly from?: ReportPlace;
  readonly written?: WrittenMessages;
}

/**
 * Makes the first of two round trips for the first page, the only one for later pages. The caller must check the
 * dispatch's owner before it shows anything.
 */
export async function openReport(
  report: Report,
  question: ReportQuery,
  from: ReportPlace | undefined,
): Promise<OpenReport | undefined> {
  const { dispatchId } = question;
  if (from === undefined) {
    const dispatch = await describedDispatch(report, dispatchId);
    return dispatch === undefined ? undefined : { dispatch };
  }
  if (!dispatchIdPattern.test(dispatchId)) return undefined;
  const [dispatch, written] = await Promise.all([
    report.findDescribed(dispatchId),
    report.readMessages(dispatchId, partitionsOf(question, from)),
  ]);
  return dispatch === undefined ? undefined : { dispatch, from, written };
}

/** Returns a dispatch, or undefined if there is none or its id is malformed. */
export async function describedDispatch(report: Report, dispatchId: string): Promise<DescribedDispatch | undefined> {
  return dispatchIdPattern.test(dispatchId) ? await report.findDescribed(dispatchId) : undefined;
}

/** Reads the rest of the page. A later page of a dispatch that stopped just now takes one more round trip. */
export async function readPage(
  report: Report,
  question: ReportQuery,
  open: OpenReport,
  { nowMs, rates }: { readonly nowMs: number; readonly rates: KnownRates },
): Promise<ReportPage> {
  const { dispatchId } = question;
  const { dispatch, from } = open;
  const read = isStoppedLately(dispatch, nowMs) ? { consistent: true } : undefined;
  const asRead = read === undefined ? open.written : undefined;
  const written =
    asRead ?? (await report.readMessages(dispatchId, partitionsOf(question, from ?? dispatch.head.total), read));
  const outcomeAt = outcomesOf(dispatch, written) ?? takenBack();
  const costNow = () => costNowOf(dispatch, { written, outcomeAt }, rates);
  return reportPage(dispatch, question, { from, outcomeAt, costNow });
}

/** Returns how far a dispatch is, or undefined for a missing or withdrawn one. */
export async function countsOf(report: Report, dispatchId: string): Promise<DispatchProgress | undefined> {
  const found = await report.findDescribed(dispatchId);
  if (found === undefined) return undefined;
  const dispatch = await reckoned(report, found);
  const { head, reserved, stop } = dispatch;
  const { outcomeAt } = await writtenIn(report, dispatch, partitionsOfDispatch(head.total));
  if (outcomeAt === undefined) return undefined;
  const counts = countsIn(dispatch, outcomeAt);
  return { head, reserved, stop, ...(counts.pending === 0 ? { counts } : {}) };
}

/** Returns the standing of a dispatch whose state a cancellation has just changed (D53). */
export async function statusNow(
  report: Report,
  dispatch: DescribedDispatch,
  rates: KnownRates,
): Promise<DispatchStatus> {
  const all = partitionsOfDispatch(dispatch.head.total);
  const known = await writtenIn(report, await reckoned(report, dispatch), all);
  const outcomeAt = known.outcomeAt ?? takenBack();
  return { counts: countsIn(dispatch, outcomeAt), cost: costNowOf(dispatch, { ...known, outcomeAt }, rates) };
}

function costNowOf(
  dispatch: DescribedDispatch,
  { written, outcomeAt }: { readonly written: WrittenMessages; readonly outcomeAt: OutcomeAt },
  rates: KnownRates,
): Cost {
  const { head } = dispatch;
  const messages = Array.from({ length: head.total }, (_, index) => ({
    outcome: outcomeAt(index),
    proven: written.proofs.get(index),
    market: marketAt(dispatch, index),
  }));
  return costOf(releasedHead(dispatch), messages, rates).cost;
}

/** Returns all outcomes of a dispatch, read strongly: ended messages have ended for good. */
export async function outcomesNow(
  report: Report,
  found: DescribedDispatch,
): Promise<{ readonly outcomeAt: OutcomeAt; readonly written: WrittenMessages }> {
  const dispatch = await reckoned(report, found);
  const { dispatchId, total } = dispatch.head;
  const written = await report.readMessages(dispatchId, partitionsOfDispatch(total), { consistent: true });
  return { outcomeAt: outcomesOf(dispatch, written) ?? takenBack(), written };
}

/**
 * Writes the tries under way of a stopped dispatch, once: from then on all other outcomes are final (item-writes.ts,
 * `reckon`).
 */
async function reckoned(report: Report, dispatch: DescribedDispatch): Promise<DescribedDispatch> {
  const { stop, underWay, head } = dispatch;
  if (stop === undefined || underWay !== undefined) return dispatch;
  const written = await report.readMessages(head.dispatchId, partitionsOfDispatch(head.total), { consistent: true });
  return { ...dispatch, underWay: await report.reckon(head.dispatchId, underWayIn(written)) };
}

/** For a stopped dispatch it reads strongly, so that unclaimed slices are certain. */
async function writtenIn(report: Report, dispatch: DescribedDispatch, partitions: readonly number[]) {
  const read = dispatch.stop === undefined ? undefined : { consistent: true };
  const written = await report.readMessages(dispatch.head.dispatchId, partitions, read);
  return { written, outcomeAt: outcomesOf(dispatch, written) };
}

function takenBack(): never {
  throw new Refusal('dispatch_not_found', 'dispatch not found');
}

function countsIn(dispatch: DescribedDispatch, outcomeAt: OutcomeAt): OutcomeCounts {
  return countStates(placesOf(dispatch).map(({ index }) => outcomeAt(index).state));
}
