import { claimLifeMs } from '../../lib/messages/dispatch/claim.ts';
import type { DispatchMessage } from '../../lib/messages/job.ts';
import { documentedEffects, type Effect, effectsOf, type PlatformEffect } from './effects.ts';
import type { OpName } from './stepped-run.ts';

/** The bounds of one exploration, and what may happen in it. */
export interface Scenario {
  readonly messages: readonly DispatchMessage[];
  readonly startMs: number;
  /** Crashes, failed calls, refusals and early reappearances on one path, at most. */
  readonly faults: number;
  /** Deliveries on one path, at most, copies included. */
  readonly deliveries: number;
  /** Most messages handed to one worker at once. */
  readonly batchSize: number;
  /** Reserving a slot may fail, and takes time. */
  readonly paces?: true;
  /** What the platform may do to a post; by default what it documents. */
  readonly platform?: readonly PlatformEffect[];
  /** What else may go wrong, where it is not any call, any run and any delivery. */
  readonly harm?: Harm;
  /** The time passes in these steps, one after the other; by default once, until claims are too old. */
  readonly stepsMs?: readonly number[];
  /**
   * How long runs of the dispatch may take, any of these, after which they are killed; and a call of the platform takes no
   * longer than its time-out. Without it runs are never stopped, which is harsher than Lambda.
   */
  readonly livesMs?: readonly number[];
  /** What clocks say more than the time: each run has any of these. */
  readonly skewsMs?: readonly number[];
  /** A write whose caller was told of a time-out takes effect within this time, or never; without it at any time. */
  readonly latestMs?: number;
  /** The platform tells of each message that it took, in these words, one receipt each. */
  readonly receipts?: {
    readonly statuses: readonly string[];
    /** Deliveries of receipts on one path, at most. */
    readonly deliveries: number;
    /** Runs that work off receipts at the same time, at most, and those that dispatch. */
    readonly runs: number;
    readonly dispatchRuns: number;
  };
  /** Somebody looks at the platform's own record and settles messages by hand, so often on one path. */
  readonly operator?: { readonly looks: number };
}

export interface Harm {
  /** What may come of which calls; all others go well. */
  readonly calls?: Readonly<Partial<Record<OpName, readonly Effect[]>>>;
  /** A run may die at any moment. */
  readonly crash?: true;
  /** A delivery may become visible although its run works. */
  readonly reappear?: true;
  /** The queue may deliver once more what it was told to delete. */
  readonly survive?: true;
}

const anyHarm: Harm = { calls: effectsOf, crash: true, reappear: true };

export function harmIn({ harm = anyHarm }: Scenario): Harm {
  return harm;
}

/** What may come of a call. */
export function effectsIn({ harm = anyHarm, platform = documentedEffects }: Scenario, name: OpName): readonly Effect[] {
  return name === 'send' ? platform : ['ok', ...(harm.calls?.[name] ?? [])];
}

export function stepsIn({ stepsMs = [claimLifeMs] }: Scenario): readonly number[] {
  return stepsMs;
}
