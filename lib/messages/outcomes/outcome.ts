import { present } from '../../keys/present.ts';
import { type BatchRecord, type Claim, claimRemainderMs, type DispatchKey } from '../dispatch/claim.ts';
import { dispatchIdOf } from '../job.ts';

/**
 * How one recipient's message ended on our side (D29), or `pending` while it is queued, being sent or waiting for another
 * try. `held`: the platform took it and holds it back (D39); like `sent` it is never sent again.
 */
export const outcomeStates = ['sent', 'held', 'failed', 'expired', 'unknown', 'pending'] as const;
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
  const to = present({ to: claim.to });
  const taken = needsBatchRecord(claim) ? batch?.[dispatchId] : undefined;
  if (taken !== undefined) {
    const { platformMessageId, held } = taken;
    if (held === undefined) return { dispatchId, state: 'sent', ...to, platformMessageId };
    return { dispatchId, state: 'held', ...to, code: held, platformMessageId };
  }
  if (claim.state === 'claimed') {
    if (claimRemainderMs(claim, nowMs) > 0) return { dispatchId, state: 'pending', ...to };
    return { dispatchId, state: 'unknown', ...to, code: 'worker_lost' };
  }
  return {
    dispatchId,
    state: claim.state,
    ...to,
    ...present({ code: claim.code, reason: claim.reason }),
  };
}

/** Claims whose outcome may stand in a batch record; every other claim says everything itself. */
export function needsBatchRecord(claim: Claim): boolean {
  return claim.state === 'claimed' || claim.state === 'unknown';
}

export type OutcomeCounts = Readonly<Record<OutcomeState, number>>;

export function countOutcomes(outcomes: readonly Outcome[]): OutcomeCounts {
  const counts = { sent: 0, held: 0, failed: 0, expired: 0, unknown: 0, pending: 0 };
  for (const { state } of outcomes) counts[state] += 1;
  return counts;
}
