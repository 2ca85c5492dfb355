import { Refusal } from '../../http/refusal.ts';
import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import { inTimeLeft } from '../accept/answer-deadline.ts';
import { runOverMs } from '../accept/idempotency.ts';
import { type WithdrawPorts, withdrawDispatch } from '../accept/withdraw-dispatch.ts';
import { dispatchMemorySeconds } from '../dispatch/items.ts';
import { heldIn, type Marking, type Marks, type RetryState, withMarking } from './marks.ts';

/** Every method rejects when the store cannot be reached. */
export interface RetryMarks {
  /** Reads strongly. */
  find(dispatchId: string): Promise<Marks>;
  /** Replaces exactly `seen` by compare-and-set. Returns false when it has changed. */
  replace(write: MarksWrite): Promise<boolean>;
  /** Returns the states of retries' dispatches, strongly consistent. A missing dispatch is open. */
  standingsOf(dispatchIds: readonly string[]): Promise<ReadonlyMap<string, RetryState>>;
}

export interface MarksWrite {
  readonly dispatchId: string;
  readonly seen: Marks;
  readonly next: Marks;
  readonly keptUntilMs: number;
}

export interface MarkPorts extends WithdrawPorts {
  readonly marks: RetryMarks;
  readonly nowMs: () => number;
  /** Runs when a retry's dispatch was withdrawn because its acceptance must be dead. Does not throw. */
  readonly takenBack?: ((dispatchId: string) => Promise<void>) | undefined;
}

export interface Retrying {
  readonly dispatchId: string;
  readonly source: { readonly dispatchId: string; readonly forgottenAtMs: number };
  /** At least one index in the source is to be sent again. */
  readonly wanted: readonly number[];
}

/** Each conflict means that another retry has marked something. */
const mostAttempts = 5;

/** Marks outlive their dispatch: TTL deletes late, and no reader may find the dispatch without its marks. */
const marginMs = 86_400_000;

/**
 * Older marks are never taken over: the retry's item goes after 30 days, and a dispatch that began then looks like one
 * that never did.
 */
const believedMs = (dispatchMemorySeconds - 86_400) * 1_000;

/**
 * Marks wanted recipients that no other retry has, and accepts them (marks.ts). Refuses with 409 `request_in_progress`,
 * or `nothing_to_retry` with the dispatches that have them all.
 */
export async function withMarked<T>(
  retrying: Retrying,
  ports: MarkPorts,
  accept: (marked: ReadonlySet<number>) => Promise<T>,
): Promise<T> {
  let marked: ReadonlySet<number> | undefined;
  try {
    marked = await markRecipients(retrying, ports);
    return await accept(marked);
  } catch (error) {
    // Marks are released after a refusal. After `dispatch_undecided` they stay until another request finds out.
    if (mayBeGivenBack(error, marked)) await givenBack(retrying.dispatchId, ports);
    throw error;
  }
}

/** A refusal before the write leaves no mark. Any other error may mean that only the reply was lost. */
function mayBeGivenBack(error: unknown, marked: ReadonlySet<number> | undefined): boolean {
  if (!(error instanceof Refusal)) return true;
  return marked !== undefined && error.code !== 'dispatch_undecided';
}

async function markRecipients(
  { dispatchId, source, wanted }: Retrying,
  ports: MarkPorts,
): Promise<ReadonlySet<number>> {
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    const seen = await ports.marks.find(source.dispatchId);
    // The previous attempt succeeded and its reply was lost.
    const own = seen.retries.find((marking) => marking.dispatchId === dispatchId);
    if (own !== undefined) return new Set(own.indexes);
    const standings = await decided(seen, ports);
    const marking = freeOf(seen, { wanted, standings, dispatchId, atMs: ports.nowMs() });
    const next = withMarking(seen, marking, standings);
    const keptUntilMs = source.forgottenAtMs + marginMs;
    if (await ports.marks.replace({ dispatchId: source.dispatchId, seen, next, keptUntilMs }))
      return new Set(marking.indexes);
  }
  throw beingRetried();
}

/** Returns the wanted recipients that are free now, for a rehearsal. Writes nothing; refuses as `withMarked` does. */
export async function unmarked(
  { dispatchId, source, wanted }: Retrying,
  { marks, nowMs }: Pick<MarkPorts, 'marks' | 'nowMs'>,
): Promise<ReadonlySet<number>> {
  const seen = await marks.find(source.dispatchId);
  const standings = await marks.standingsOf(seen.retries.map((marking) => marking.dispatchId));
  const asIfTakenBack = new Map(standings);
  for (const marking of seen.retries) {
    if (isDead(marking, standings, nowMs())) asIfTakenBack.set(marking.dispatchId, 'withdrawn');
  }
  return new Set(freeOf(seen, { wanted, standings: asIfTakenBack, dispatchId, atMs: nowMs() }).indexes);
}

/** Returns the states of marking retries, after dead ones are withdrawn. */
async function decided(seen: Marks, ports: MarkPorts): Promise<ReadonlyMap<string, RetryState>> {
  const found = await ports.marks.standingsOf(seen.retries.map(({ dispatchId }) => dispatchId));
  const standings = new Map(found);
  for (const marking of seen.retries) {
    if (!isDead(marking, standings, ports.nowMs())) continue;
    const standing = await takenBack(marking, ports);
    if (standing !== undefined) standings.set(marking.dispatchId, standing);
  }
  return standings;
}

/** Returns undefined when the write fails: the marks then hold, and nothing is less certain than before. */
async function takenBack({ dispatchId }: Marking, ports: MarkPorts): Promise<'withdrawn' | 'begun' | undefined> {
  try {
    const standing = await withdrawDispatch(dispatchId, ports);
    if (standing === 'withdrawn') await ports.takenBack?.(dispatchId);
    return standing;
  } catch (error) {
    log('retry.marks_kept', { dispatchId, error: errorName(error) });
    return undefined;
  }
}

function isDead({ dispatchId, atMs }: Marking, standings: ReadonlyMap<string, RetryState>, nowMs: number): boolean {
  const ageMs = nowMs - atMs;
  return (standings.get(dispatchId) ?? 'open') === 'open' && ageMs >= runOverMs && ageMs < believedMs;
}

/** Returns the recipients to mark, at least one. */
function freeOf(
  seen: Marks,
  {
    wanted,
    standings,
    ...mine
  }: Pick<Retrying, 'wanted'> & Pick<Marking, 'dispatchId' | 'atMs'> & { standings: ReadonlyMap<string, RetryState> },
): Marking {
  const held = heldIn(seen, standings);
  const indexes = wanted.filter((index) => !held.has(index)).toSorted((one, other) => one - other);
  if (indexes.length > 0) return { ...mine, indexes };
  const standingOf = ({ dispatchId }: Marking) => standings.get(dispatchId) ?? 'open';
  const holding = seen.retries.filter(
    (marking) => standingOf(marking) !== 'withdrawn' && marking.indexes.some((index) => wanted.includes(index)),
  );
  if (holding.some((marking) => standingOf(marking) === 'open')) throw beingRetried();
  throw new Refusal('nothing_to_retry', 'all recipients that could be retried are in another retry: see retried_by', {
    retriedBy: holding.map(({ dispatchId }) => dispatchId).sort(),
  });
}

/** A failure only makes the marks hold longer, until the run must be dead, and does not change the answer. */
async function givenBack(dispatchId: string, ports: MarkPorts): Promise<void> {
  try {
    await inTimeLeft(ports.remainingMs, async (signal) => {
      await ports.acceptance.withdraw(dispatchId, signal);
    });
  } catch (error) {
    log('retry.marks_kept', { dispatchId, error: errorName(error) });
  }
}

function beingRetried(): Refusal {
  return new Refusal('request_in_progress', 'another retry of these recipients is being accepted', {
    headers: { 'retry-after': '5' },
  });
}
