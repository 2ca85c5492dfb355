import { above, absent, anyOf, atMost, below, equals, present } from '../../aws/item-write.ts';
import { blockingLease, isOwnLease, mayTakeLease } from '../../aws/lease.ts';
import type { StoredRecipient } from '../dispatch/head.ts';
import { type DispatchItem, type DispatchItemState, type RoundRecord, stateOf } from '../dispatch/item.ts';
import type { CallsOf, DispatchWrite } from '../dispatch/item-writes.ts';
import type { StoredDispatch } from '../dispatch/whole-dispatch.ts';

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

/** Before the first round nothing is queued. */
export type Progress = Required<Pick<DispatchItem, 'queued'>> & Pick<DispatchItem, 'ofStretches' | 'wave'>;

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

/** What the rounds write of a dispatch's item. Every write may be repeated. */
export const roundWrites = {
  /** Takes a round of a dispatch that has begun, for `leaseMs`. */
  take: (run: RoundRun, nowMs: number): DispatchWrite<Taken> => ({
    dispatchId: run.dispatchId,
    if: [
      present('head'),
      anyOf([absent('round')], [atMost('round.round', run.round)]),
      mayTakeLease('round.lease', run.owner, nowMs),
    ],
    set: { round: heldFrom(nowMs, run) },
    answer: ({ written, item = {} }) =>
      written
        ? { kind: 'taken', progress: progressOf(item), state: stateOf(item) }
        : (againstTaking(item.round, run, nowMs) ?? { kind: 'over' }),
  }),

  /**
   * Writes the progress and renews the lease. Returns undefined when another run has the round, or when an earlier
   * announcement lands again, repeated by the SDK.
   */
  announce: (run: RoundRun, progress: Progress, nowMs: number): DispatchWrite<DispatchItemState | undefined> => ({
    ...progressed(run, progress, heldFrom(nowMs, run)),
    if: [
      ...isHeldBy(run),
      anyOf([absent('queued')], [atMost('queued', progress.queued)]),
      // An announcement without a wave may be followed by a wave from the same place, and must not overwrite it.
      ...(progress.wave === undefined
        ? [anyOf([absent('queued')], [below('queued', progress.queued)], [absent('wave')])]
        : []),
    ],
    answer: ({ written, item = {} }) => (written ? stateOf(item) : undefined),
  }),

  /** Hands the dispatch over to the next round; returns false when another run has the round. */
  handOver: (run: RoundRun, progress: Progress, next: Omit<RoundRecord, 'lease'>): DispatchWrite<boolean> => ({
    ...progressed(run, progress, next),
    if: isHeldBy(run),
    own: [above('round.round', run.round)],
    answer: ({ written }) => written,
  }),
};

/**
 * Replaces the whole progress: a run that has lost the reply of an announcement hands over an earlier one, whose sum and
 * stretches belong together.
 */
function progressed({ dispatchId }: RoundRun, { queued, wave, ofStretches }: Progress, round: RoundRecord) {
  const progress = { wave, ofStretches };
  const remove = (['wave', 'ofStretches'] as const).filter((name) => progress[name] === undefined);
  return { dispatchId, set: { round, queued, ...progress }, remove };
}

function isHeldBy({ round, owner }: RoundRun) {
  return [equals('round.round', round), isOwnLease('round.lease', owner)];
}

function heldFrom(nowMs: number, { round, owner }: RoundRun): RoundRecord {
  return { round, lease: { owner, untilMs: nowMs + leaseMs } };
}

function progressOf({ queued = 0, wave, ofStretches }: DispatchItem): Progress {
  return { queued, wave, ofStretches };
}

/** Writes are idempotent. Every method rejects when the store cannot be reached. */
export interface DispatchRounds extends CallsOf<typeof roundWrites> {
  /** Reads strongly. Returns undefined for an unknown or forgotten dispatch. */
  find(dispatchId: string): Promise<StoredDispatch | undefined>;
  /** Returns at least one recipient, as many as one read returns. Reads strongly. */
  recipientsFrom(dispatchId: string, firstIndex: number): Promise<readonly StoredRecipient[]>;
  /** Lists the dispatch for its client, and names a retry at its source, as acceptance mostly has done. */
  list(dispatch: StoredDispatch): Promise<void>;
}
