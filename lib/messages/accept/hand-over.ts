import { Refusal } from '../../http/refusal.ts';
import { errorName } from '../../observe/error-name.ts';
import { type LogEvent, log } from '../../observe/log.ts';
import { mostSmallRequestBytes, straightRecipients } from '../dispatch/call-facts.ts';
import type { DispatchHead, Repeat } from '../dispatch/head.ts';
import { encodeSmallRequest } from '../dispatch/small-request-message.ts';
import type { WholeDispatch } from '../dispatch/whole-dispatch.ts';
import type { AcceptedDispatches } from './accepted-dispatches-store.ts';
import { fewestMs, inTime, untilAnswerMs } from './answer-deadline.ts';
import type { MessageQueue } from './message-queue.ts';
import { maxRecipientBytes, RecipientTooLarge } from './parameter-pages.ts';

// A dispatch of the backlog counts once it has begun, with its entry in the backlog (dispatch/backlog.ts). A straight
// one counts once its message is queued: it has no entry, so nothing else would find it.

export interface WithdrawPorts {
  readonly acceptance: Pick<AcceptedDispatches, 'withdraw'>;
  readonly remainingMs: () => number;
}

export interface HandOverPorts extends WithdrawPorts {
  readonly acceptance: Pick<AcceptedDispatches, 'store' | 'begin' | 'withdraw' | 'list' | 'beginStraight'>;
  /** Wakes the senders of its number (sender/wake-accepted.ts). Rejects when a wake was not confirmed. */
  readonly wake: (head: DispatchHead, signal: AbortSignal) => Promise<void>;
  /** The urgent queue takes small requests, one-time codes above all (D44). */
  readonly urgentQueue: MessageQueue;
  /** Reads the messages a second that the number may send, as the platform last reported them. */
  readonly limitOf: (head: DispatchHead) => Promise<number>;
}

/**
 * Hands over all of a dispatch or nothing (D25, R20), and returns what lists it, which never throws. Refuses with 502
 * `dispatch_unavailable` (none is sent), 502 `dispatch_undecided` (unknown), 400 `invalid_recipients` (one is larger
 * than an item).
 */
export async function handOver(dispatch: WholeDispatch, ports: HandOverPorts): Promise<() => Promise<void>> {
  const small = await smallRequestBody(dispatch, ports.limitOf);
  const { remainingMs, acceptance } = ports;
  if (untilAnswerMs(remainingMs) < fewestMs) throw unavailable(new Error('too little time left'));
  if (small === undefined) await begun(dispatch, ports);
  else await queued(dispatch.head, small, ports);
  const list = (by: AbortSignal): Promise<unknown> =>
    small === undefined ? acceptance.list(dispatch, by) : acceptance.beginStraight(dispatch, by);
  return () => tried('dispatch.not_described', dispatch, ports, list);
}

/** Stores the dispatch, begins it, and wakes its number's senders. A beginning is tried twice before a withdrawal. */
async function begun(dispatch: WholeDispatch, ports: HandOverPorts): Promise<void> {
  const { acceptance, remainingMs } = ports;
  const { head } = dispatch;
  const begin = () => inTime(remainingMs, (by) => acceptance.begin(head, by));
  try {
    await inTime(remainingMs, (by) => acceptance.store(dispatch, by));
  } catch (cause) {
    // Nothing has begun, so there is nothing to withdraw.
    throw cause instanceof RecipientTooLarge ? tooLarge(cause, dispatch) : unavailable(cause);
  }
  await confirmedOrWithdrawn(head.dispatchId, ports, async () => {
    if ((await begin().catch(begin)) === 'withdrawn') throw new Error('it was withdrawn');
  });
  await tried('dispatch.not_woken', dispatch, ports, (by) => ports.wake(head, by));
}

async function queued({ dispatchId, clientId }: DispatchHead, small: string, ports: HandOverPorts): Promise<void> {
  await confirmedOrWithdrawn(dispatchId, ports, () =>
    inTime(ports.remainingMs, (by) => ports.urgentQueue.send(small, String(clientId), by)),
  );
}

async function confirmedOrWithdrawn(
  dispatchId: string,
  ports: WithdrawPorts,
  decide: () => Promise<void>,
): Promise<void> {
  try {
    await decide();
  } catch (cause) {
    // What was not confirmed may be done nevertheless, now or later.
    if ((await withdraw(dispatchId, ports)) === 'withdrawn') throw unavailable(cause);
  }
}

/**
 * Withdraws a dispatch unless it has begun. Refuses with 502 `dispatch_undecided` when the write fails: a repeated
 * Idempotency-Key finds out.
 */
export async function withdraw(
  dispatchId: string,
  { acceptance, remainingMs }: WithdrawPorts,
): Promise<'withdrawn' | 'begun'> {
  try {
    return await inTime(remainingMs, (by) => acceptance.withdraw(dispatchId, by));
  } catch (cause) {
    throw new Refusal(
      'dispatch_undecided',
      'whether the messages were queued is not known; only a request with an Idempotency-Key can safely be repeated, with the same key',
      { cause },
    );
  }
}

/** What fails here a sweep repeats (sender/sweep.ts), or the sender or worker before it sends. */
async function tried(
  failed: LogEvent,
  { head: { dispatchId } }: WholeDispatch,
  { remainingMs }: HandOverPorts,
  attempt: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  try {
    await inTime(remainingMs, attempt);
  } catch (error) {
    log(failed, { dispatchId, error: errorName(error) });
  }
}

/** Returns the queue message of a request of up to ten recipients, which is not stored before (D25); else undefined. */
export async function smallRequestBody(
  { head, plan, recipients, repeats = [], header }: WholeDispatch,
  limitOf: HandOverPorts['limitOf'],
): Promise<string | undefined> {
  // A scheduled send may outlive a queue's retention (D56), and only a stored send can be retried (D57).
  if (head.when !== undefined || head.retryOf !== undefined) return undefined;
  // Only a report can count the end of dropped recipients (D41).
  if (recipients.length > straightRecipients || repeats.length > 0) return undefined;
  const body = encodeSmallRequest({ head, plan, recipients, header, limitPerSecond: await limitOf(head) });
  // Storing larger recipients refuses one that no item can hold.
  return Buffer.byteLength(body) > mostSmallRequestBytes ? undefined : body;
}

function unavailable(cause: unknown): Refusal {
  return new Refusal('dispatch_unavailable', 'the messages could not be queued; none of them will be sent', { cause });
}

function tooLarge({ index, bytes }: RecipientTooLarge, { repeats = [], positions }: WholeDispatch): Refusal {
  const path = `recipients[${positions?.[index] ?? placeInRequest(index, repeats)}].params`;
  const message = `expected at most ${maxRecipientBytes} bytes of JSON, received ${bytes}`;
  return new Refusal('invalid_recipients', `${path}: ${message}`, { errors: [{ path, message }] });
}

/** Returns a recipient's place in the request, which still had the repeats. `repeats` is sorted. */
function placeInRequest(index: number, repeats: readonly Repeat[]): number {
  let place = index;
  for (const [dropped] of repeats) if (dropped <= place) place += 1;
  return place;
}
