import { sideBySide } from '../../aws/side-by-side.ts';
import type { KnownRates } from '../../pricing/rates-of-day.ts';
import { straightRecipients } from '../chunk.ts';
import type { JobHead } from '../job.ts';
import type { Proven } from '../receipts/fold.ts';
import { type CostLine, costOf, marketOfAddress } from '../report/cost.ts';
import { type DescribedJob, isForgotten, placesOf } from '../report/described-job.ts';
import { countStates, outcomesOf, type ReportedOutcome, type WrittenMessages } from '../report/outcome.ts';
import { type CountStep, nextStep, type Truth, together } from './count-step.ts';
import { endingsOf, type JobRecord, type Line, type Statement } from './statement.ts';

/** A job with what is stated of it. */
export interface JobToCount {
  readonly job: DescribedJob;
  readonly statement: Statement | undefined;
}

/** The items that counts read and write. Every read is strongly consistent; all throw when the store cannot be reached. */
export interface SpendLedger {
  /** Undefined for a job that there is not (any more), or was taken back. */
  read(jobId: string): Promise<JobToCount | undefined>;
  /** Of all messages of a job its receipts, and its slices where they are asked for. */
  readMessages(head: JobHead, asked: { readonly slices: boolean }): Promise<WrittenMessages>;
  /** False when a statement has changed meanwhile: then nothing is written. */
  write(step: CountStep): Promise<boolean>;
}

export interface CountPorts {
  readonly ledger: SpendLedger;
  readonly rates: () => Promise<KnownRates>;
  readonly nowMs: () => number;
  /** Reads the slices of small jobs too: of who counts because of an end that no receipt tells. */
  readonly readsSlices?: true;
}

const jobsAtOnce = 20;

/** A statement changes with each count that finds something new: more are under way of no job. */
const maxRounds = 20;

/** A small job: counted with others of its client as its receipts come, and without counts by state. */
export function isSmall({ total }: Pick<JobHead, 'total'>): boolean {
  return total <= straightRecipients;
}

/**
 * Counts what jobs cost by all that is written of them (D58), and adds to the sums what is not in them yet. The statement is read
 * first and written under its version, so of counts side by side one refuses, and reads everything once more: what was written
 * before a count began is in the sums when it has ended. May be repeated, and killed anywhere. Throws when statements keep changing.
 */
export async function countJobs(jobIds: Iterable<string>, ports: CountPorts): Promise<void> {
  const rates = await ports.rates();
  let open: readonly string[] = [...new Set(jobIds)];
  for (let round = 0; open.length > 0; round += 1) {
    if (round === maxRounds) throw new Error(`${open.length} statements keep changing`);
    const again = new Set<string>();
    const steps: CountStep[] = [];
    await sideBySide(open, jobsAtOnce, async (jobId) => {
      const next = await stepOf(jobId, rates, ports);
      if (next === undefined) return;
      steps.push(next.step);
      if (next.again) again.add(jobId);
    });
    // Where a transaction was refused, the jobs of it must not refuse one another for ever.
    const joined = round === 0 ? together(steps) : steps;
    await sideBySide(joined, jobsAtOnce, async (step) => {
      if (await ports.ledger.write(step)) return;
      for (const { job } of step.stated) again.add(job.jobId);
    });
    open = [...again];
  }
}

async function stepOf(
  jobId: string,
  rates: KnownRates,
  { ledger, nowMs, readsSlices }: CountPorts,
): Promise<{ readonly step: CountStep; readonly again: boolean } | undefined> {
  const found = await ledger.read(jobId);
  if (found === undefined || isForgotten(found.job.head, nowMs())) return undefined;
  const { job, statement } = found;
  const { head } = job;
  const written = await ledger.readMessages(head, { slices: readsSlices === true || needsSlices(head, statement) });
  const truth = truthOf(found, written, rates);
  if (truth === undefined) return undefined;
  const next = nextStep(head, statement, truth);
  if (next === undefined) return undefined;
  // Whether a receipt with a price was passed over meanwhile (receipts-to-count.ts) is seen after this write.
  const looksAgain = isSmall(head) && head.receiptsExpected === true && truth.cost.basis === 'list';
  return { step: next.step, again: !next.isLast || looksAgain };
}

/**
 * Where receipts decide alone on what a job costs, its slices need not be read; counts by state and reservations need them. So does
 * a small job of which a failure is stated: its worker knows of it, and no receipt will tell it.
 */
function needsSlices(head: JobHead, statement: Statement | undefined): boolean {
  const receiptsDecide = isSmall(head) && head.receiptsExpected === true && head.reservedUnits === undefined;
  return !receiptsDecide || (statement?.record.failed ?? 0) > 0;
}

/** Undefined for a job that was taken back. */
function truthOf({ job, statement }: JobToCount, written: WrittenMessages, rates: KnownRates): Truth | undefined {
  const outcomeAt = outcomesOf(job, written);
  if (outcomeAt === undefined) return undefined;
  const { head } = job;
  const markets = Array.from({ length: head.total }, (_, index) => {
    const to = job.recipients.get(index);
    return statement?.markets[index] || (to === undefined ? '' : marketOfAddress(to));
  });
  const messages = markets.map((market, index) => ({
    outcome: outcomeAt(index),
    proven: written.proofs.get(index),
    market,
  }));
  const { cost, lines, openUnits } = costOf(head, messages, rates);
  const counts = isSmall(head) ? {} : { counts: countStates(placesOf(job).map(({ index }) => outcomeAt(index).state)) };
  const { reservedUnits } = head;
  const adjusted = reservedUnits === undefined ? {} : { adjustedUnits: cost.units + openUnits - reservedUnits };
  const record = recordOf(messages, written, statement?.record);
  return { ...counts, record, cost, lines: byMarket(lines), markets, ...adjusted };
}

/**
 * How messages ended, and the calls that were made for them, as far as is known: the claimants of their slices have recorded
 * theirs, and whom the platform took was called at least once. A count that reads no slices takes nothing back of what an
 * earlier one found.
 */
function recordOf(
  messages: readonly { readonly outcome: ReportedOutcome; readonly proven: Proven | undefined }[],
  { slices }: WrittenMessages,
  before: JobRecord | undefined,
): JobRecord {
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
