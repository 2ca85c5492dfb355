import { present } from '../../keys/present.ts';
import { jobMemorySeconds } from '../items.ts';
import { type DispatchMessage, dispatchIdOf } from '../job.ts';
import type { JobState, JobStop } from '../job-state.ts';
import { claimLifeMs, dispatchTimeoutMs } from '../slices/claim-life.ts';

export { claimLifeMs, dispatchTimeoutMs };

/** Time-out of one platform call. */
export const platformCallTimeoutMs = 10_000;

/** A send starts only with this much time left: the call's time-out and 3 s to write down what came of it. */
export const sendBudgetMs = platformCallTimeoutMs + 3_000;

/** How long claims are remembered, counted from the claim (R23; TTL in seconds). */
export const claimMemorySeconds = jobMemorySeconds;

/** Counted from acceptance: later than this nothing is sent, because a claim might already be forgotten. */
const lastSendAfterAcceptanceMs = 28 * 86_400_000;

/** Without an expiry of its own, a message that keeps being refused provably unsent is retried this long. */
const retryForMs = 24 * 3_600_000;

export type SettledState = 'sent' | 'failed' | 'expired' | 'unknown';

export interface Settlement {
  readonly state: SettledState;
  /** The platform's error code, or a word of ours: `retry_deadline`, `no_answer`, `not_composable`. */
  readonly code: string;
  /** The platform's text for people. The client's data: stored, never logged. */
  readonly reason?: string;
}

export interface DispatchKey {
  readonly jobId: string;
  readonly index: number;
}

export function keyOf({ jobId, index }: DispatchKey): DispatchKey {
  return { jobId, index };
}

/**
 * The one item per message that decides who may send it. `claimed` means: somebody was about to send it; whether that
 * succeeded is in the batch record of the invocation named by `at`.
 */
export interface Claim {
  readonly key: DispatchKey;
  readonly state: 'claimed' | SettledState;
  /** The claimant: `<invocation>/<position in its batch>`, unlike any other, so that only its owner recognises it. */
  readonly at: string;
  readonly claimedAtMs: number;
  readonly to?: string;
  readonly code?: string;
  readonly reason?: string;
  /** When it was settled after it had been `unknown`. */
  readonly resolvedAtMs?: number;
}

/** The code of what an operator has settled by hand, which is no event (D34). */
export const resolvedByOperator = 'resolved_by_operator';

/** A receipt of the platform proves that it took the message (D39): what nobody else can say, and never sent again. */
export const provenByReceipt = { state: 'sent', code: 'receipt' } as const satisfies Settlement;

/**
 * Names one record of one run of the function. The position keeps two copies of a message in the same batch apart; each
 * would otherwise take the other's claim for its own and send.
 */
export function claimantOf(invocation: string, position: number): string {
  return `${invocation}/${position}`;
}

export function invocationOf(at: string): string {
  return at.slice(0, at.lastIndexOf('/'));
}

/**
 * A claim for a message about to be sent, or its final outcome: what is known of it already, as when its job was stopped
 * (D53), or that it comes too late to be sent (D27).
 */
export function newClaim(message: DispatchMessage, at: string, nowMs: number, settled?: Settlement): Claim {
  const to = message.request.to ?? message.request.recipient;
  return {
    key: { jobId: message.jobId, index: message.index },
    at,
    claimedAtMs: nowMs,
    ...present({ to }),
    ...(settled ?? lateness(message, nowMs) ?? { state: 'claimed' }),
  };
}

/** A message by its age. */
type Aged = Pick<DispatchMessage, 'acceptedAtMs' | 'expiresAtMs' | 'attempt'>;

/** The outcome of a message that may no longer be sent, undefined while it may. */
export function lateness(message: Aged, nowMs: number): Settlement | undefined {
  const { expiresAtMs = Number.POSITIVE_INFINITY } = message;
  if (nowMs >= expiresAtMs) return { state: 'expired', code: 'expired' };
  if (nowMs >= retryDeadlineMs(message)) return { state: 'failed', code: 'retry_deadline' };
  return undefined;
}

/**
 * Until when a message may be tried. A first delivery may come late (a long backlog) and is still sent; only retries end
 * after a day. Neither outlives the claims.
 */
export function retryDeadlineMs(message: Aged): number {
  const retried = message.attempt > 0 && message.expiresAtMs === undefined;
  return message.acceptedAtMs + (retried ? retryForMs : lastSendAfterAcceptanceMs);
}

/**
 * How a message ends that was claimed when nothing of its stopped job was pending any more: its worker sees the stop, or
 * died before it did. Undefined for a claim that was there before: then it was too old to be anybody's, or a batch record
 * says that it was sent, which goes before.
 */
export function endedByStop(
  claim: Claim,
  { stop, endedAtMs = Number.POSITIVE_INFINITY }: JobState,
): JobStop | undefined {
  return claim.state === 'claimed' && claimRemainderMs(claim, endedAtMs) > 0 ? stop : undefined;
}

/** How long a claim of somebody else must still be respected; 0 once its owner cannot be running any more. */
export function claimRemainderMs(claim: Claim, nowMs: number): number {
  return Math.min(claimLifeMs, Math.max(0, claim.claimedAtMs + claimLifeMs - nowMs));
}

/** A message that the platform took: its id there, and the platform's word for it when it holds the message (D39). */
export interface Taken {
  readonly platformMessageId: string;
  readonly held?: string;
}

/** What one invocation handed over, by dispatch id. */
export type BatchRecord = Readonly<Record<string, Taken>>;

export function isIn(record: BatchRecord | undefined, key: DispatchKey): boolean {
  return record?.[dispatchIdOf(key)] !== undefined;
}
