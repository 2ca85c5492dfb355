import { errorName } from '../../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { KnownRates } from '../../pricing/rates-of-day.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import { cancelled } from '../dispatch/item-state.ts';
import type { DispatchItemStates } from '../dispatch/item-store.ts';
import type { DescribedDispatch } from './described-dispatch.ts';
import { countsOf, statusNow } from './read-report.ts';
import type { DispatchStatus } from './report.ts';
import type { Report } from './report-store.ts';

export interface StopPorts {
  readonly report: Report;
  readonly states: Pick<DispatchItemStates, 'of' | 'stop'>;
  /** Wakes the number of a stopped dispatch: its senders know of the stop (sender/stop-news.ts). */
  readonly wakeNumber: (head: DispatchHead) => Promise<void>;
  /**
   * Counts the cost of a dispatch now (spend/count-dispatches.ts), which frees what it has reserved and cannot cost any
   * more.
   */
  readonly countNow: (dispatchId: string) => Promise<void>;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

export interface CancelPorts extends StopPorts {
  readonly rates: () => Promise<KnownRates>;
}

/**
 * Cancels a dispatch's unclaimed messages, frees what they have reserved, and returns the dispatch's standing (D53). No
 * ended message becomes pending again. Is idempotent: a repetition frees what a dead run has not.
 */
export async function cancelDispatch(ports: CancelPorts, dispatch: DescribedDispatch): Promise<DispatchStatus> {
  await stopDispatch(ports, dispatch.head);
  const { dispatchId } = dispatch.head;
  // Reads the stop in force: another writer's may have been first.
  const state = (await ports.states.of([dispatchId])).get(dispatchId);
  const status = await statusNow(ports.report, { ...dispatch, ...state }, await ports.rates());
  await freeReserved(ports, dispatch);
  return status;
}

/**
 * Cancels one dispatch of many. Returns false when it has ended or was stopped, undefined when it was withdrawn, or has
 * not begun.
 */
export async function cancelOpenDispatch(ports: StopPorts, dispatchId: string): Promise<boolean | undefined> {
  const before = await countsOf(ports.report, dispatchId);
  if (before === undefined) return undefined;
  const stopped = before.counts === undefined && (await stopDispatch(ports, before.head));
  // Separates the tries under way, which reports count from then on (item-writes.ts, `reckon`).
  if (stopped) await countsOf(ports.report, dispatchId);
  // A run may have died between its stop and its count, so an ended dispatch is counted as well.
  await freeReserved(ports, before);
  return stopped;
}

/** Only a count after the stop was reckoned is sure that no unclaimed message will cost anything. */
async function freeReserved(
  { countNow }: StopPorts,
  { head, reserved }: Pick<DescribedDispatch, 'head' | 'reserved'>,
): Promise<void> {
  if (reserved !== undefined) await countNow(head.dispatchId);
}

/** Rejects when the stop, or its announcement, could not be written: the client repeats its request. */
async function stopDispatch({ states, wakeNumber, nowMs, log }: StopPorts, head: DispatchHead): Promise<boolean> {
  const { dispatchId, clientId } = head;
  const stopped = await states.stop(head, cancelled(nowMs()));
  if (stopped) log('dispatch.cancelled', { dispatchId, clientId });
  try {
    if (stopped) await wakeNumber(head);
  } catch (error) {
    // A sweep finds what has lost its wake.
    log('dispatch.not_woken', { dispatchId, error: errorName(error) });
  }
  return stopped;
}
