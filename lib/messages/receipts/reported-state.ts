import { present } from '../../keys/present.ts';
import type { Proven } from './fold.ts';

/** How a message ended on our side, as far as our own records say (D29); see `outcomeOf`. */
export type OwnState = 'pending' | 'held' | 'sent' | 'failed' | 'expired' | 'unknown';

/** What a client is told of a message: our own word, carried further by the platform's (D39). */
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

/** What receipts may carry further. */
export interface OwnOutcome {
  readonly state: OwnState;
  readonly code?: string;
  readonly reason?: string;
  readonly platformMessageId?: string;
  /** When this became so. */
  readonly atMs?: number;
  /** Of what is pending outside of its time (D56): when it may leave. */
  readonly scheduledForMs?: number;
}

/** `userId` and `waId`: how the platform named the person last. */
export interface ReportedOutcome extends Omit<OwnOutcome, 'state'>, Pick<Proven, 'userId' | 'waId'> {
  readonly state: ReportedState;
}

/**
 * The outcome of one message by all that is known of it: our own records, and what its receipts prove together (D39). Any
 * receipt proves that the platform took the message, so it overrules `pending`, `unknown`, and what else we took for not
 * sent. A receipt whose status nobody knows says nothing against `held`. Code, reason and time are those of whoever decides;
 * the time is the receipt's where ours is not known.
 */
export function reportedOutcome(own: OwnOutcome, proven: Proven | undefined): ReportedOutcome {
  if (proven === undefined) return own;
  const { proof, receipt, userId, waId } = proven;
  const { platformMessageId, code, reason, atMs } = receipt;
  const named = present({ platformMessageId, userId, waId });
  if (proof === 'taken' && (own.state === 'held' || own.state === 'sent')) {
    return { atMs, ...own, ...named };
  }
  const state = proof === 'taken' ? 'sent' : proof;
  return { state, atMs, ...named, ...(proof === 'failed' ? present({ code, reason }) : {}) };
}
