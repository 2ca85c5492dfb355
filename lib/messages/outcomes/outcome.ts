import { present } from '../../keys/present.ts';
import {
  type BatchRecord,
  type Claim,
  claimRemainderMs,
  type DispatchKey,
  endedByStop,
  provenByReceipt,
} from '../dispatch/claim.ts';
import { dispatchIdOf } from '../job.ts';
import type { JobState } from '../job-state.ts';
import type { Proven } from '../receipts/fold.ts';
import {
  type OwnOutcome,
  type OwnState,
  type ReportedOutcome as ReportedFacts,
  type ReportedState,
  reportedOutcome,
  reportedStates,
} from '../receipts/reported-state.ts';

export type OutcomeState = OwnState;

/**
 * How one recipient's message ended on our side (D29), or `pending` while it is queued, being sent or waiting for another
 * try. `held`: the platform took it and holds it back (D39); like `sent` it is never sent again.
 */
export interface Outcome extends OwnOutcome {
  readonly dispatchId: string;
  readonly to?: string;
}

/** The same, carried further by what the platform told later. */
export interface ReportedOutcome extends ReportedFacts {
  readonly dispatchId: string;
  readonly to?: string;
}

export function reported(own: Outcome, proven: Proven | undefined): ReportedOutcome {
  const { dispatchId, to } = own;
  return { dispatchId, ...present({ to }), ...reportedOutcome(own, proven) };
}

/**
 * The outcome of one message, from its claim and the batch record that the claim names. A batch record is proof: it
 * also overrules `unknown`, which a second worker wrote when the first was only slow, and says more than a claim that a
 * receipt settled. A claim without one counts as unknown once its owner cannot be running any more. Without a claim it is
 * as its job is (D46, D53).
 */
export function outcomeOf(
  key: DispatchKey,
  stored: {
    readonly claim?: Claim | undefined;
    readonly batch?: BatchRecord | undefined;
    readonly job?: JobState | undefined;
  },
  nowMs: number,
): Outcome {
  const dispatchId = dispatchIdOf(key);
  const { claim, batch, job } = stored;
  if (claim === undefined) return { dispatchId, ...unclaimed(job ?? {}) };
  const to = present({ to: claim.to });
  const atMs = claim.claimedAtMs;
  const taken = needsBatchRecord(claim) ? batch?.[dispatchId] : undefined;
  if (taken !== undefined) {
    const { platformMessageId, held } = taken;
    if (held === undefined) return { dispatchId, state: 'sent', ...to, platformMessageId, atMs };
    return { dispatchId, state: 'held', ...to, code: held, platformMessageId, atMs };
  }
  const stopped = endedByStop(claim, job ?? {});
  if (stopped !== undefined) return { dispatchId, ...to, ...stopped };
  if (claim.state === 'claimed') {
    if (claimRemainderMs(claim, nowMs) > 0) return { dispatchId, state: 'pending', ...to };
    return { dispatchId, state: 'unknown', ...to, code: 'worker_lost', atMs };
  }
  // When that was, its receipt tells, and the word for it is ours.
  if (isProvenByReceipt(claim)) return { dispatchId, state: 'sent', ...to };
  return {
    dispatchId,
    state: claim.state,
    ...to,
    ...present({ code: claim.code, reason: claim.reason }),
    atMs,
  };
}

function unclaimed({ stop, parked }: JobState): OwnOutcome {
  return stop ?? { state: 'pending', ...present({ code: parked?.code }) };
}

/** Claims whose outcome may stand in a batch record; every other claim says everything itself. */
export function needsBatchRecord(claim: Claim): boolean {
  return claim.state === 'claimed' || claim.state === 'unknown' || isProvenByReceipt(claim);
}

function isProvenByReceipt({ state, code }: Claim): boolean {
  return state === provenByReceipt.state && code === provenByReceipt.code;
}

/** Whether a batch record can change what is reported: not where a receipt says more than that the message was taken. */
export function batchRecordDecides(claim: Claim, proven: Proven | undefined): boolean {
  return needsBatchRecord(claim) && (proven === undefined || proven.proof === 'taken');
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
