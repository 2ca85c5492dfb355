import { present } from '../../keys/present.ts';
import { count } from '../../observe/metrics.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { ServiceEvent } from '../../webhooks/event.ts';
import { type DispatchMessage, dispatchIdOf } from '../job.ts';
import { retryDelaySeconds, type Wait } from '../pace/pacing.ts';
import {
  type Claim,
  claimRemainderMs,
  type DispatchKey,
  invocationOf,
  lateness,
  newClaim,
  provenByReceipt,
  retryDeadlineMs,
  type SettledState,
  type Settlement,
  sendBudgetMs,
  type Taken,
} from './claim.ts';
import { completedEvent } from './completed-event.ts';
import type { Delivery, DispatchPorts } from './dispatch-ports.ts';
import { type Addressed, messageEvent, outcomeEvent } from './message-event.ts';
import type { Handover } from './platform-messages.ts';
import { verdictOn } from './verdict.ts';

/** What the platform calls a message that it took and holds back (platform reference, 2.10 and 4.1; D39). */
const heldStatuses: ReadonlySet<string> = new Set(['held_for_quality_assessment', 'paused']);

/** How one delivery ended: acknowledged or to be delivered again, what the platform took, what the client is to be told. */
export interface Ending {
  readonly acknowledged: boolean;
  readonly events: readonly ServiceEvent[];
  readonly taken?: Taken & { readonly dispatchId: string };
  /** It left, and the platform is to tell at once what becomes of it. */
  readonly receiptExpected?: true;
}

const acknowledged: Ending = { acknowledged: true, events: [] };
export const deliverAgain: Ending = { acknowledged: false, events: [] };

interface Attempt {
  readonly delivery: Delivery;
  readonly at: string;
}

/**
 * Works off one delivery of a message: claims it, hands it to the platform or leaves it to whoever has claimed it before,
 * and writes what became of it, unless it was sent: that is for the batch record of the run. Throws when a write of the
 * store fails; the message is to be delivered again then.
 */
export async function dispatchMessage(
  message: DispatchMessage,
  attempt: Attempt,
  ports: DispatchPorts,
): Promise<Ending> {
  if (ports.remainingMs() < sendBudgetMs) return deliverAgain;
  const claim = newClaim(message, attempt.at, ports.nowMs());
  let existing: Claim | undefined;
  try {
    existing = await ports.claims.take(claim);
  } catch (error) {
    ports.log('dispatch.claim_failed', { dispatchId: dispatchIdOf(message), error: nameOf(error) });
    // Past its time there is no later: it comes back until the queue gives up and the alarm rings.
    if (claim.state !== 'claimed') return deliverAgain;
    return await tryAgainLater(message, attempt.at, { pace: 'claims', attempt: message.attempt }, ports);
  }
  // A claim under our own name is ours: the SDK repeated a write whose reply was lost (R16).
  if (existing !== undefined && !(existing.at === attempt.at && existing.state === 'claimed')) {
    return await yieldTo(existing, { ...attempt, message }, ports);
  }
  if (claim.state !== 'claimed') {
    report(message, { state: claim.state, code: claim.code }, ports);
    return ended(message, claim, ports);
  }
  // The write may have taken seconds.
  if (ports.remainingMs() < sendBudgetMs) {
    await ports.claims.release(claim.key, attempt.at);
    return deliverAgain;
  }
  const late = lateness(message, ports.nowMs());
  if (late !== undefined) return await settle(message, attempt.at, late, ports);
  return await handOver(message, attempt.at, ports);
}

/** Somebody else holds or held this message: it is never sent from here. */
async function yieldTo(
  existing: Claim,
  attempt: Attempt & { readonly message: DispatchMessage },
  ports: DispatchPorts,
): Promise<Ending> {
  const { message } = attempt;
  if (existing.state === 'unknown' && (await isProvenTaken(message, ports))) {
    return ended(message, provenByReceipt, ports);
  }
  if (existing.state !== 'claimed') return ended(message, existing, ports);
  const remainderMs = claimRemainderMs(existing, ports.nowMs());
  if (remainderMs > 0) {
    const seconds = Math.ceil(remainderMs / 1_000);
    await ports.queue.postpone(attempt.delivery.receiptHandle, seconds).catch((error: unknown) => {
      // The queue's own visibility time-out applies instead, and that is longer.
      ports.log('dispatch.postpone_failed', { dispatchId: dispatchIdOf(message), error: nameOf(error) });
    });
    return deliverAgain;
  }
  const taken = (await ports.claims.findBatchRecord(invocationOf(existing.at)))?.[dispatchIdOf(message)];
  if (taken !== undefined) return endedTaken(message, taken, ports);
  return await settle(message, existing.at, { state: 'unknown', code: 'worker_lost' }, ports);
}

/**
 * Whether a receipt says that the platform took this message after all. Asked before a claim is given back after a call,
 * before one is settled `unknown`, and again before that is told. A receipt that comes later finds the doubt and does the
 * rest itself: takes the claim before a copy can, or settles `unknown` and tells `message.resolved`.
 */
async function isProvenTaken(message: DispatchMessage, { doubts }: DispatchPorts): Promise<boolean> {
  await doubts.mark(message);
  return await doubts.hasReceipt(keyOf(message));
}

function keyOf({ jobId, index }: DispatchMessage): DispatchKey {
  return { jobId, index };
}

/**
 * The same, asked again while there is time: when nobody can say, the claim stays, and a message that was certainly not
 * sent ends unknown. A mark written twice is the same mark.
 */
async function isProvenAfterRefusal(message: DispatchMessage, ports: DispatchPorts): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await isProvenTaken(message, ports);
    } catch (error) {
      if (attempt === 3 || ports.remainingMs() < 5_000) throw error;
      await ports.pause(500 * attempt);
    }
  }
}

async function handOver(message: DispatchMessage, at: string, ports: DispatchPorts): Promise<Ending> {
  let handover: Handover;
  try {
    handover = await ports.send(message);
  } catch (error) {
    return await afterFailure(error, message, at, ports);
  }
  const dispatchId = dispatchIdOf(message);
  const { platformMessageId, messageStatus: status = 'accepted' } = handover;
  if (heldStatuses.has(status)) {
    ports.log('dispatch.held', { dispatchId, code: status });
    const taken = { dispatchId, platformMessageId, held: status };
    return { ...endedTaken(message, taken, ports), taken };
  }
  // The platform took the message, whatever it calls that.
  if (status !== 'accepted') ports.log('dispatch.status_unknown', { dispatchId, code: status });
  ports.log('dispatch.sent', { dispatchId });
  const taken = { dispatchId, platformMessageId };
  return { ...endedTaken(message, taken, ports), taken, ...present({ receiptExpected: message.receiptsExpected }) };
}

async function afterFailure(
  error: unknown,
  message: DispatchMessage,
  at: string,
  ports: DispatchPorts,
): Promise<Ending> {
  const verdict = verdictOn(error);
  if (verdict.kind === 'settle') return await settle(message, at, verdict.settlement, ports);
  if (await isProvenAfterRefusal(message, ports)) return await settle(message, at, provenByReceipt, ports);
  if (verdict.pace === 'credential') {
    ports.log('dispatch.credential_refused', { dispatchId: dispatchIdOf(message), clientId: message.clientId });
  }
  return await tryAgainLater(message, at, { ...verdict, attempt: message.attempt }, ports);
}

async function settle(message: DispatchMessage, at: string, found: Settlement, ports: DispatchPorts): Promise<Ending> {
  const proven = found.state === 'unknown' && (await isProvenTaken(message, ports));
  const settlement = proven ? provenByReceipt : found;
  const settled = await ports.claims.settle(keyOf(message), at, settlement);
  // Not settled: somebody settled or released it meanwhile; the next delivery sees what it is now.
  if (!settled) return deliverAgain;
  report(message, settlement, ports);
  // A receipt that came meanwhile has met a claim that a late batch record vouched for, and left it to whoever settles it.
  const provenNow = settlement.state === 'unknown' && (await ports.doubts.hasReceipt(keyOf(message)));
  return ended(message, provenNow ? provenByReceipt : settlement, ports);
}

const metricOf = {
  sent: 'MessagesSent',
  failed: 'MessagesFailed',
  expired: 'MessagesExpired',
  unknown: 'MessagesUnknown',
} as const satisfies Record<SettledState, string>;

/** Once for every settled outcome: by the run whose write made it one. */
function report(
  message: DispatchMessage,
  { state, code }: { readonly state: SettledState; readonly code: string | undefined },
  ports: DispatchPorts,
): void {
  count(metricOf[state]);
  ports.log(`dispatch.${state}`, { dispatchId: dispatchIdOf(message), code });
}

function ended(message: DispatchMessage, outcome: Settlement | Claim, ports: DispatchPorts): Ending {
  const event = outcomeEvent(addressed(message), outcome, ports.nowMs());
  return telling(message, [event, ...completed(message, outcome.state, ports)]);
}

function endedTaken(message: DispatchMessage, { held, platformMessageId }: Taken, ports: DispatchPorts): Ending {
  const told = { timestampMs: ports.nowMs(), code: held, platformMessageId };
  const event = held === undefined ? undefined : messageEvent('message.held', addressed(message), present(told));
  return telling(message, [event, ...completed(message, held === undefined ? 'sent' : 'held', ports)]);
}

/** With a message that is alone its job has ended (D41). */
function completed(message: DispatchMessage, state: Claim['state'] | 'held', ports: DispatchPorts): ServiceEvent[] {
  return message.alone ? [completedEvent(message, { [state]: 1 }, ports.nowMs())] : [];
}

/** The events of a batch, which has messages of several requests, are queued together: each says itself whose it is. */
function telling({ correlationId }: DispatchMessage, events: readonly (ServiceEvent | undefined)[]): Ending {
  const told = events.filter((event) => event !== undefined).map((event) => ({ ...event, correlationId }));
  return { acknowledged: true, events: told };
}

function addressed(message: DispatchMessage): Addressed {
  const { to, recipient } = message.request;
  return { ...message, to: to ?? recipient };
}

/**
 * For a message that was provably not sent: gives the claim back and queues a copy, so that waiting uses up none of the
 * queue's deliveries (R17). The copy comes last: a crash before it leaves the original, one after it leaves both, and
 * the claim lets one of them send.
 */
async function tryAgainLater(
  message: DispatchMessage,
  at: string,
  wait: Wait & { readonly settlement?: Settlement },
  ports: DispatchPorts,
): Promise<Ending> {
  const delaySeconds = retryDelaySeconds(wait, ports.random());
  const copy = { ...message, attempt: message.attempt + 1 };
  if (wait.settlement !== undefined && ports.nowMs() + delaySeconds * 1_000 >= retryDeadlineMs(copy)) {
    return await settle(message, at, wait.settlement, ports);
  }
  await ports.claims.release(keyOf(message), at).catch((error: unknown) => {
    // The copy will find the claim, wait it out and end unknown. Without a copy the original would: no worse.
    ports.log('dispatch.release_failed', { dispatchId: dispatchIdOf(message), error: nameOf(error) });
  });
  await ports.queue.sendLater(copy, delaySeconds);
  ports.log('dispatch.retry', { dispatchId: dispatchIdOf(message), attempt: copy.attempt, code: wait.pace });
  return acknowledged;
}
