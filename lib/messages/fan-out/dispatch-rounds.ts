import { blockingLease, type Lease } from '../../aws/lease.ts';
import type { DispatchHead, HeaderInput, Repeat, StoredRecipient } from '../dispatch.ts';
import type { DispatchItemState } from '../dispatch-item-state.ts';
import type { Lot } from '../lots.ts';
import type { CompositionPlan } from '../request/compose.ts';

// A dispatch is released in rounds, so that waiting messages do not fill the dispatch queue. Each round is one message
// of the fan-out queue.

// Queues may double messages, so the dispatch item holds the round, its lease and its progress.

// A run *takes* its round before it queues anything: a lease of `leaseMs`, renewed with each wave.

// It *announces* each wave with its slots before it queues a chunk (write-ahead). A run that finds an announced wave
// and no later one queues it again, in the same slots.

// At the end it queues the next round's message, *hands over*, then acknowledges its own. A message of an earlier round
// is dropped; one whose round another run holds is requeued.

// So while recipients are left, a message of this round or the next is queued, and no two runs queue side by side.
// While the store is down, nothing is queued.

/** There is no lease between two rounds. */
export interface RoundRecord {
  readonly round: number;
  readonly lease?: Lease | undefined;
  /** A scheduled send's round message is due then: a lost one might otherwise be missed only after days (D56). */
  readonly dueMs?: number | undefined;
}

/** No message has so high a round. */
export const roundAfterLast = Number.MAX_SAFE_INTEGER;

/** A killed run's message is redelivered later, so that its next run need not wait for the lease. */
export const leaseMs = 45_000;

/** A run queues nothing when its lease ends sooner: the longest request, plus clock skew, takes this long. */
export const leaseMarginMs = 18_000;

/** A delivery in work is invisible this long, renewed every `holdEveryMs`: a killed run costs a minute at most. */
export const holdSeconds = 60;
export const holdEveryMs = 20_000;

export interface RoundRun {
  readonly dispatchId: string;
  readonly round: number;
  /** Each run and delivery has an owner of its own. */
  readonly owner: string;
}

/**
 * A wave goes from the first unqueued recipient to `until`, with the first lane position. With lots, it lies in one
 * stretch (recipient-ranges.ts) from `from` on.
 */
export interface Wave {
  readonly from?: number;
  readonly until: number;
  readonly position: number;
}

export type NextRound = Pick<RoundRecord, 'round' | 'dueMs'>;

export interface Progress {
  /** This many recipients are queued or ended, from the first on; with lots, the sum over all stretches. */
  readonly queued: number;
  /** With lots, each stretch has its number, in order, which only grows. */
  readonly ofStretches?: readonly number[];
  readonly wave?: Wave;
}

export type NotTaken =
  | { readonly kind: 'over' }
  /** Another run has the lease until then, unless it renews. */
  | { readonly kind: 'held'; readonly untilMs: number };

export type Taken =
  | { readonly kind: 'taken'; readonly progress: Progress; readonly state: DispatchItemState }
  | NotTaken;

export function againstTaking(
  record: RoundRecord | undefined,
  { round, owner }: Pick<RoundRun, 'round' | 'owner'>,
  nowMs: number,
): NotTaken | undefined {
  if (record !== undefined && record.round > round) return { kind: 'over' };
  const other = blockingLease(record?.lease, owner, nowMs);
  return other === undefined ? undefined : { kind: 'held', untilMs: other.untilMs };
}

export interface StoredDispatch {
  readonly head: DispatchHead;
  readonly plan: CompositionPlan;
  readonly repeats: readonly Repeat[];
  readonly waitsMs: ReadonlyMap<number, number>;
  /** A scheduled send has call times, and the header input that a changed template is judged with (D56). */
  readonly lots?: readonly Lot[];
  readonly header?: HeaderInput;
}

/** Writes are idempotent. Every method rejects when the store cannot be reached. */
export interface DispatchRounds {
  /** Reads strongly. Returns undefined for an unknown or forgotten dispatch. */
  find(dispatchId: string): Promise<StoredDispatch | undefined>;
  /** Returns at least one recipient, as many as one read returns. Reads strongly. */
  recipientsFrom(dispatchId: string, firstIndex: number): Promise<readonly StoredRecipient[]>;
  /** Begins the dispatch; `withdrawn` when its client was told that nothing is sent (D25). */
  begin(dispatch: StoredDispatch): Promise<'begun' | 'withdrawn'>;
  take(run: RoundRun, nowMs: number): Promise<Taken>;
  /**
   * Writes the progress and renews the lease. Returns undefined when another run has the round, or when an earlier
   * announcement lands again.
   */
  announce(run: RoundRun, progress: Progress, nowMs: number): Promise<DispatchItemState | undefined>;
  /**
   * Hands the dispatch over to the next round; returns false when another run has the round. `dueMs` belongs to
   * scheduled sends.
   */
  handOver(run: RoundRun, progress: Progress, next: NextRound): Promise<boolean>;
  /** A scheduled send is released completely: lost-rounds.ts no longer looks at it. */
  leaveSchedule(dispatchId: string): Promise<void>;
}
