import { queueBody } from '../../aws/queue-body.ts';
import { Refusal } from '../../http/refusal.ts';
import type { QueuedChunk } from '../dispatch/chunk.ts';
import type { Repeat } from '../dispatch/head.ts';
import type { WholeDispatch } from '../dispatch/whole-dispatch.ts';
import type { AcceptedDispatches } from './accepted-dispatches-store.ts';
import { answerBudgetMs } from './answer-deadline.ts';
import type { MessageQueue } from './message-queue.ts';
import { maxRecipientBytes, RecipientTooLarge } from './parameter-pages.ts';
import type { DispatchParameters } from './parameter-store.ts';
import { encodeRound } from './round-message.ts';
import { type WithdrawPorts, withdrawDispatch, withdrawLimitMs } from './withdraw-dispatch.ts';

const handOverLimitMs = 6_000;

/** The queue keeps two of the six seconds, enough for a second attempt. */
const storeLimitMs = 4_000;

const handOverBudgetMs = handOverLimitMs + withdrawLimitMs + answerBudgetMs;

export interface QueueDispatchPorts extends WithdrawPorts {
  readonly parameters: Pick<DispatchParameters, 'store'>;
  readonly acceptance: Pick<AcceptedDispatches, 'describe' | 'begin' | 'withdraw'>;
  readonly queue: MessageQueue;
  /** The urgent queue takes small requests, one-time codes above all (D44). */
  readonly urgentQueue: MessageQueue;
}

/**
 * Stores a dispatch, then queues its id: all or nothing (D25, R20). Refuses with 502 `dispatch_unavailable` (none is
 * sent), 502 `dispatch_undecided` (unknown), 400 `invalid_recipients` (a recipient larger than an item).
 */
export async function storeAndQueueDispatch(dispatch: WholeDispatch, ports: QueueDispatchPorts): Promise<void> {
  const signal = givenUpAfter(ports);
  await storeWhole(dispatch, AbortSignal.timeout(storeLimitMs), ports);
  const { dispatchId, clientId, acceptedAtMs, correlationId } = dispatch.head;
  const message = encodeRound({ dispatchId, clientId, acceptedAtMs, correlationId });
  await queuedOrTakenBack(dispatchId, ports, async () => {
    await ports.queue.send(message, String(clientId), signal);
    // A retry begins now: another retry may take back a dispatch that has not begun (retry/retry-keys.ts).
    if (dispatch.head.retryOf !== undefined) await begun(dispatch, signal, ports);
  });
}

async function begun(
  { head, repeats = [] }: WholeDispatch,
  signal: AbortSignal,
  ports: QueueDispatchPorts,
): Promise<void> {
  if ((await ports.acceptance.begin({ head, repeats }, signal)) === 'withdrawn') throw new Error('it was taken back');
}

/** Queues a straight request, for which nothing is stored. Refuses as `storeAndQueueDispatch` does. */
export async function queueStraightRequest(chunk: QueuedChunk, ports: QueueDispatchPorts): Promise<void> {
  const signal = givenUpAfter(ports);
  const { dispatchId, clientId } = chunk;
  await queuedOrTakenBack(dispatchId, ports, () => ports.urgentQueue.send(queueBody(chunk), String(clientId), signal));
}

function givenUpAfter({ remainingMs }: QueueDispatchPorts): AbortSignal {
  if (remainingMs() < handOverBudgetMs) throw unavailable(new Error('too little time left to queue the dispatch'));
  return AbortSignal.timeout(handOverLimitMs);
}

async function storeWhole(dispatch: WholeDispatch, signal: AbortSignal, ports: QueueDispatchPorts): Promise<void> {
  try {
    await ports.parameters.store(dispatch, signal);
    await ports.acceptance.describe(dispatch, signal);
  } catch (cause) {
    // Nothing was queued yet, so there is nothing to withdraw.
    throw cause instanceof RecipientTooLarge ? tooLarge(cause, dispatch) : unavailable(cause);
  }
}

async function queuedOrTakenBack(
  dispatchId: string,
  ports: QueueDispatchPorts,
  queue: () => Promise<void>,
): Promise<void> {
  try {
    await queue();
  } catch (cause) {
    // A queue that did not confirm may still hold the message, so the dispatch is withdrawn first.
    if ((await withdrawDispatch(dispatchId, ports)) === 'withdrawn') throw unavailable(cause);
  }
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
