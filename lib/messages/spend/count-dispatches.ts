import { forEachConcurrently } from '../../aws/concurrently.ts';
import type { KnownRates } from '../../pricing/rates-of-day.ts';
import { straightRecipients } from '../dispatch/call-facts.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { Proven } from '../receipts/fold-receipts.ts';
import { type CostLine, costOf, marketAt, releasedHead } from '../report/cost.ts';
import { type DescribedDispatch, isForgotten, placesOf } from '../report/described-dispatch.ts';
import { countStates, outcomesOf, type ReportedOutcome, type WrittenMessages } from '../report/outcome.ts';
import { type CountStep, nextStep, type Truth, together } from './count-step.ts';
import { type DispatchRecord, endingsOf, type Line, type Statement } from './statement.ts';

export interface DispatchToCount {
  readonly dispatch: DescribedDispatch;
  readonly statement: Statement | undefined;
}

/** Reads are strongly consistent. Every method rejects when the store cannot be reached. */
export interface SpendLedger {
  /** Returns undefined for a withdrawn or forgotten dispatch. */
  read(dispatchId: string): Promise<DispatchToCount | undefined>;
  /** Returns all receipts of a dispatch, and its slices if asked for. */
  readMessages(head: DispatchHead, asked: { readonly slices: boolean }): Promise<WrittenMessages>;
  /** Returns false when a statement has changed: then nothing is written. */
  write(step: CountStep): Promise<boolean>;
}

export interface CountPorts {
  readonly ledger: SpendLedger;
  readonly rates: () => Promise<KnownRates>;
  readonly nowMs: () => number;
  /** Reads slices of small dispatches too, for counts after an end that no receipt reports. */
  readonly readsSlices?: true;
}

const dispatchesAtOnce = 20;

/** A statement changes with each count that finds news; no dispatch has more counts at once. */
const maxRounds = 20;

/** A small dispatch is counted with its client's others as receipts come, without counts by state. */
export function isSmall({ total }: Pick<DispatchHead, 'total'>): boolean {
  return total <= straightRecipients;
}

/**
 * Counts the cost of dispatches (D58) and adds the difference to the sums, under an optimistic lock on the statement.
 * Is idempotent. Throws when statements keep changing.
 */
export async function countDispatches(dispatchIds: Iterable<string>, ports: CountPorts): Promise<void> {
  const rates = await ports.rates();
  let open: readonly string[] = [...new Set(dispatchIds)];
  for (let round = 0; open.length > 0; round += 1) {
    if (round === maxRounds) throw new Error(`${open.length} statements keep changing`);
    const again = new Set<string>();
    const steps: CountStep[] = [];
    await forEachConcurrently(open, dispatchesAtOnce, async (dispatchId) => {
      const next = await stepOf(dispatchId, rates, ports);
      if (next === undefined) return;
      steps.push(next.step);
      if (next.again) again.add(dispatchId);
    });
    // A step goes alone after a refusal, so that dispatches of one transaction do not keep refusing each other.
    const joined = round === 0 ? together(steps) : steps;
    await forEachConcurrently(joined, dispatchesAtOnce, async (step) => {
      if (await ports.ledger.write(step)) return;
      for (const { head } of step.stated) again.add(head.dispatchId);
    });
    open = [...again];
  }
}

async function stepOf(
  dispatchId: string,
  rates: KnownRates,
  { ledger, nowMs, readsSlices }: CountPorts,
): Promise<{ readonly step: CountStep; readonly again: boolean } | undefined> {
  const found = await ledger.read(dispatchId);
  if (found === undefined || isForgotten(found.dispatch.head, nowMs())) return undefined;
  const { dispatch, statement } = found;
  const { head } = dispatch;
  const written = await ledger.readMessages(head, { slices: readsSlices === true || needsSlices(found) });
  const truth = truthOf(found, written, rates);
  if (truth === undefined) return undefined;
  const next = nextStep(head, statement, truth);
  if (next === undefined) return undefined;
  // A look after this write shows whether a receipt with pricing was skipped meanwhile (count-receipts.ts).
  const looksAgain = isSmall(head) && head.receiptsExpected === true && truth.cost.basis === 'list';
  return { step: next.step, again: !next.isLast || looksAgain };
}

/**
 * Slices are needed for counts by state, reservations, and small dispatches with a stated failure, which only their
 * worker knows. Otherwise receipts alone decide the cost.
 */
function needsSlices({ dispatch: { head, reserved }, statement }: DispatchToCount): boolean {
  const receiptsDecide = isSmall(head) && head.receiptsExpected === true && reserved === undefined;
  return !receiptsDecide || (statement?.record.failed ?? 0) > 0;
}

/** Returns undefined for a withdrawn dispatch. */
function truthOf(
  { dispatch, statement }: DispatchToCount,
  written: WrittenMessages,
  rates: KnownRates,
): Truth | undefined {
  const outcomeAt = outcomesOf(dispatch, written);
  if (outcomeAt === undefined) return undefined;
  const { head } = dispatch;
  const messages = Array.from({ length: head.total }, (_, index) => ({
    outcome: outcomeAt(index),
    proven: written.proofs.get(index),
    market: marketAt(dispatch, index),
  }));
  const { reserved } = dispatch;
  const { cost, lines, openUnits } = costOf(releasedHead(dispatch), messages, rates);
  const counts = isSmall(head)
    ? {}
    : { counts: countStates(placesOf(dispatch).map(({ index }) => outcomeAt(index).state)) };
  const adjusted = reserved === undefined ? {} : { adjustedUnits: cost.units + openUnits - reserved.units };
  const record = recordOf(messages, written, statement?.record);
  return { ...counts, record, cost, lines: byMarket(lines), ...adjusted };
}

/**
 * Returns endings and calls as far as known: recorded by the claimants of slices, and at least one for each taken
 * message. A count that reads no slices keeps the calls of an earlier count.
 */
function recordOf(
  messages: readonly { readonly outcome: ReportedOutcome; readonly proven: Proven | undefined }[],
  { slices }: WrittenMessages,
  before: DispatchRecord | undefined,
): DispatchRecord {
  const recorded = [...slices.values()].reduce((sum, { calls = 0 }) => sum + calls, 0);
  const isTaken = ({ state }: ReportedOutcome) => state === 'sent' || state === 'held';
  const taken = messages.filter(({ outcome, proven }) => proven !== undefined || isTaken(outcome)).length;
  const ended = endingsOf(messages.map(({ outcome }) => outcome.state));
  return { ...ended, calls: Math.max(recorded, taken, before?.calls ?? 0) };
}

function byMarket(lines: readonly CostLine[]): Line[] {
  const merged = new Map<string, Line>();
  for (const { day, market, messages, billed, units } of lines) {
    const key = `${day} ${market}`;
    const known = merged.get(key) ?? { day, market, messages: 0, billed: 0, units: 0 };
    merged.set(key, {
      ...{ day, market },
      messages: known.messages + messages,
      billed: known.billed + billed,
      units: known.units + units,
    });
  }
  return [...merged.values()];
}
