import { type Claim, type DispatchKey, resolvedByOperator } from '../dispatch/claim.ts';
import type { ReportedOutcome } from './outcome.ts';

/** What an operator has found out about a message that nobody knew about. */
export interface HandSettlement {
  readonly state: 'sent' | 'failed';
  readonly code: typeof resolvedByOperator;
  readonly resolvedAtMs: number;
}

export interface ResolvePorts {
  /** The claim, and what it comes to with all else that is written of its message. Strongly consistent. */
  readonly read: (
    key: DispatchKey,
  ) => Promise<{ readonly claim: Claim | undefined; readonly outcome: Pick<ReportedOutcome, 'state'> }>;
  /** Settles the claim if it still is as it was seen; false otherwise. */
  readonly settleByHand: (seen: Claim, settlement: HandSettlement) => Promise<boolean>;
  readonly nowMs: () => number;
}

/**
 * Replaces `unknown` by what an operator found out. Sends nothing, and gives way: returns false when the outcome is not
 * unknown (any more), so a decision never overwrites knowledge.
 */
export async function resolveUnknown(
  key: DispatchKey,
  state: HandSettlement['state'],
  { read, settleByHand, nowMs }: ResolvePorts,
): Promise<boolean> {
  const { claim, outcome } = await read(key);
  if (claim === undefined || outcome.state !== 'unknown') return false;
  return await settleByHand(claim, { state, code: resolvedByOperator, resolvedAtMs: nowMs() });
}
