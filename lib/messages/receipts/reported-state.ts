import type { Proven } from './fold-receipts.ts';

/** Our own records give this outcome (D29; `outcomeOf`). */
export type OwnState = 'pending' | 'held' | 'sent' | 'failed' | 'expired' | 'unknown';

/** Clients see our outcome, advanced by the platform's receipts (D39). */
export const reportedStates = [
  'pending',
  'held',
  'sent',
  'delivered',
  'read',
  'failed',
  'expired',
  'unknown',
] as const satisfies readonly (OwnState | 'delivered' | 'read')[];
export type ReportedState = (typeof reportedStates)[number];

export interface OwnOutcome {
  readonly state: OwnState;
  readonly code?: string;
  readonly reason?: string;
  readonly platformMessageId?: string;
  readonly atMs?: number;
  /** A message that waits for its opening may leave then (D56). */
  readonly scheduledForMs?: number;
}

/** `userId` and `waId` are the platform's latest ids of the person. */
export interface ReportedOutcome extends Omit<OwnOutcome, 'state'>, Pick<Proven, 'userId' | 'waId'> {
  readonly state: ReportedState;
}

/**
 * Returns a message's outcome by our records and its receipts (D39). A receipt proves that the platform took the
 * message: it overrules `pending`, `unknown` and our failures. An unknown status does not overrule `held`.
 */
export function reportedOutcome(own: OwnOutcome, proven: Proven | undefined): ReportedOutcome {
  if (proven === undefined) return own;
  const { proof, receipt, userId, waId } = proven;
  const { platformMessageId = own.platformMessageId, code, reason, atMs } = receipt;
  const named = { platformMessageId, userId, waId };
  if (proof === 'taken' && (own.state === 'held' || own.state === 'sent')) {
    return { atMs, ...own, ...named };
  }
  const state = proof === 'taken' ? 'sent' : proof;
  return { state, atMs, ...named, ...(proof === 'failed' ? { code, reason } : {}) };
}
