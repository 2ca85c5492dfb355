import { count } from '../../observe/metrics.ts';
import type { CallFacts, TriedRecipient } from '../dispatch/call-facts.ts';
import { messageIdOf } from '../dispatch/head.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import type { ByDispatchState } from '../dispatch/item-state.ts';
import type { Outcome } from '../dispatch/slice.ts';
import { byHolds, holdableOf } from '../holds/held-dispatch.ts';
import { type Holds, holdsOn } from '../holds/hold.ts';
import type { ProbeResult } from '../holds/questions.ts';
import { notThereCode, type RunHolds } from '../holds/run-holds.ts';
import type { LearningPace } from '../pace/learning-pace.ts';
import { retryDelaySeconds } from '../pace/retry-delay.ts';
import { classifyFailure, type FailureClass } from './classify-failure.ts';
import { lateness, retryDeadlineMs } from './deadlines.ts';
import { openingsOf } from './recipient-openings.ts';
import type { RunProcess, SendingPorts } from './sending-ports.ts';

export interface RunPorts extends Omit<SendingPorts, 'process'>, RunProcess {
  readonly learning: LearningPace;
  readonly holds: RunHolds;
}

type Ports = Pick<RunPorts, 'platform' | 'learning' | 'holds' | 'nowMs' | 'random' | 'log'>;

/** A recipient of a claimed slice, whose time to be called has come. */
export interface Posted {
  readonly callFacts: CallFacts;
  readonly recipient: TriedRecipient;
  /** Stands for `attempts` of the recipient where its run knows of none: so many tries of its slice have ended. */
  readonly earlierTries?: number;
}

/** A call has an outcome, and leaves what the next try must know. */
export interface Ended {
  readonly outcome: Outcome;
  /** These tries provably sent nothing, including this one. */
  readonly attempts?: TriedRecipient['attempts'];
  readonly missed?: true;
  /** The platform had no such template, and the next try must know it. */
  readonly notThere?: true;
  readonly result?: ProbeResult;
  /** The platform spells the person's number so. */
  readonly waId?: string;
}

/**
 * Posts the message of a composed recipient, or says why not yet. Possibly taken is `unknown`; only provably unsent is
 * `again` (R13). Never throws.
 */
export async function postMessage(posted: Posted, ports: Ports): Promise<Ended> {
  const { callFacts, recipient } = posted;
  const { request = {} } = recipient;
  try {
    const { wabaId, phoneNumberId, path, credential } = callFacts;
    const {
      platformMessageId,
      messageStatus: status = 'accepted',
      usagePercent = 0,
      waId,
    } = await ports.platform.send({
      ...{ wabaId, phoneNumberId, path, credential },
      request,
    });
    if (usagePercent >= 100) await ports.learning.slowDown(callFacts);
    const messageId = messageIdOf({ dispatchId: callFacts.dispatchId, index: recipient.index });
    if (heldStatuses.has(status)) {
      ports.log('send.held', { messageId, code: status });
      return {
        outcome: { state: 'sent', platformMessageId, held: status },
        result: 'taken',
        waId,
      };
    }
    // The platform took the message, whatever status it reports.
    if (status !== 'accepted') ports.log('send.status_unknown', { messageId, code: status });
    ports.log('send.sent', { messageId });
    if (callFacts.receiptsExpected) count('ReceiptsExpected');
    return { outcome: { state: 'sent', platformMessageId }, result: 'taken', waId };
  } catch (error) {
    return await afterFailure(error, posted, ports);
  }
}

/** The platform took messages of these statuses and holds them back (platform reference, 2.10 and 4.1; D39). */
const heldStatuses: ReadonlySet<string> = new Set(['held_for_quality_assessment', 'paused']);

/**
 * Returns how uncalled recipients end by the state of dispatch and holds, or undefined if they may be called (D46,
 * D53).
 */
export function heldBackBy(
  { dispatch, holds }: { readonly dispatch: DispatchItemState; readonly holds: Holds },
  { callFacts, mayAsk }: { readonly callFacts: CallFacts; readonly mayAsk?: (() => boolean) | undefined },
  nowMs: number,
): Outcome | undefined {
  const on = mayAsk === undefined ? holdsOn(holds, holdableOf(callFacts)) : [];
  return outcomeOf(byHolds(dispatch, on, callFacts, nowMs), nowMs);
}

function outcomeOf(by: ByDispatchState, nowMs: number): Outcome | undefined {
  if (by.kind === 'send') return undefined;
  if (by.kind === 'settle') return by.settlement;
  return { state: 'again', dueMs: nowMs + by.delaySeconds * 1_000 };
}

/** Returns how a recipient ends whose time is over, or undefined while it may be called (D27). */
export function lateOf(callFacts: CallFacts, recipient: TriedRecipient, nowMs: number) {
  const late = lateness(
    { ...callFacts, attempt: attemptsOf(recipient), open: openingsOf(callFacts, recipient) },
    nowMs,
  );
  return late === undefined ? undefined : asOutcome(late);
}

function asOutcome({ state, code, reason }: { state: string; code: string; reason?: string }): Outcome {
  return { state: state as 'failed' | 'expired' | 'unknown', code, reason };
}

function attemptsOf({ attempts = {} }: TriedRecipient): number {
  return Object.values(attempts).reduce((sum, each) => sum + each, 0);
}

async function afterFailure(error: unknown, called: Posted, ports: Ports): Promise<Ended> {
  const { callFacts, recipient } = called;
  const verdict = classifyFailure(error);
  const result = verdict.refused === undefined ? 'unclear' : 'refused';
  const heldBack = await byRefusal(verdict, called, ports);
  if (heldBack !== undefined) {
    const isNotThere = verdict.refused?.code === notThereCode;
    return { outcome: heldBack, result, ...(isNotThere ? { notThere: true } : {}) };
  }
  if (verdict.kind === 'settle') return { outcome: asOutcome(verdict.settlement), result };
  const { pace, settlement } = verdict;
  const known = recipient.attempts?.[pace] ?? called.earlierTries ?? 0;
  await ports.learning.refused(callFacts, { to: recipient.to, pace, attempt: known });
  if (pace === 'credential') {
    const messageId = messageIdOf({ dispatchId: callFacts.dispatchId, index: recipient.index });
    ports.log('send.credential_refused', { messageId, clientId: callFacts.clientId, wabaId: callFacts.wabaId });
  }
  const dueMs = ports.nowMs() + 1_000 * retryDelaySeconds({ ...verdict, attempt: known }, ports.random());
  const attempts = { ...recipient.attempts, [pace]: known + 1 };
  const deadlineMs = retryDeadlineMs({ ...callFacts, attempt: 1, open: openingsOf(callFacts, recipient) });
  if (dueMs >= deadlineMs) return { outcome: asOutcome(settlement), result };
  ports.log('send.retry', { code: pace });
  return { outcome: { state: 'again', dueMs, refused: true }, attempts, result };
}

/**
 * Opens a hold or stops the dispatch after a refusal that concerns more than its message (D46); returns undefined for
 * others.
 */
async function byRefusal(
  { settlement: { reason }, refused }: FailureClass,
  { callFacts, recipient }: Posted,
  ports: Ports,
): Promise<Outcome | undefined> {
  const { code } = refused ?? {};
  const by = await ports.holds.byRefusal(callFacts, {
    code,
    reason,
    again: recipient.notThere,
  });
  if (by?.kind === 'wait') ports.log('send.retry', { code: 'held' });
  return by === undefined ? undefined : outcomeOf(by, ports.nowMs());
}
