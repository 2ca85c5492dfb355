import { type BatchRecord, type Claim, claimRemainderMs, type DispatchKey, isIn } from './claim.ts';
import { dispatchIdOf } from './job.ts';

/** How one recipient's message ended (D29), or `pending` while it is queued, being sent or waiting for another try. */
export const outcomeStates = ['sent', 'failed', 'expired', 'unknown', 'pending'] as const;
export type OutcomeState = (typeof outcomeStates)[number];

export interface Outcome {
  readonly dispatchId: string;
  readonly state: OutcomeState;
  readonly to?: string;
  readonly code?: string;
  readonly reason?: string;
  readonly platformMessageId?: string;
}

/**
 * The outcome of one message, from its claim and the batch record that the claim names. A batch record is proof: it
 * also overrules `unknown`, which a second worker wrote when the first was only slow. A claim without one counts as
 * unknown once its owner cannot be running any more.
 */
export function outcomeOf(
  key: DispatchKey,
  stored: { readonly claim?: Claim | undefined; readonly batch?: BatchRecord | undefined },
  nowMs: number,
): Outcome {
  const dispatchId = dispatchIdOf(key);
  const { claim, batch } = stored;
  if (claim === undefined) return { dispatchId, state: 'pending' };
  const to = claim.to === undefined ? {} : { to: claim.to };
  const platformMessageId = batch?.[dispatchId];
  if (needsBatchRecord(claim) && isIn(batch, key) && platformMessageId !== undefined) {
    return { dispatchId, state: 'sent', ...to, platformMessageId };
  }
  if (claim.state === 'claimed') {
    if (claimRemainderMs(claim, nowMs) > 0) return { dispatchId, state: 'pending', ...to };
    return { dispatchId, state: 'unknown', ...to, code: 'worker_lost' };
  }
  return {
    dispatchId,
    state: claim.state,
    ...to,
    ...(claim.code === undefined ? {} : { code: claim.code }),
    ...(claim.reason === undefined ? {} : { reason: claim.reason }),
  };
}

/** Claims whose outcome may stand in a batch record; every other claim says everything itself. */
export function needsBatchRecord(claim: Claim): boolean {
  return claim.state === 'claimed' || claim.state === 'unknown';
}

export type OutcomeCounts = Readonly<Record<OutcomeState, number>>;

export function countOutcomes(outcomes: readonly Outcome[]): OutcomeCounts {
  const counts = { sent: 0, failed: 0, expired: 0, unknown: 0, pending: 0 };
  for (const { state } of outcomes) counts[state] += 1;
  return counts;
}
