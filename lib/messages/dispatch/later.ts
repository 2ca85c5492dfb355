import { nameOf } from '../../observe/name-of.ts';
import { type DispatchMessage, dispatchIdOf } from '../job.ts';
import { maxDelaySeconds, type Pace, retryDelaySeconds, triesOf, withTry } from '../pace/pacing.ts';
import { keyOf, retryDeadlineMs, type Settlement } from './claim.ts';
import type { DispatchPorts } from './dispatch-ports.ts';
import { acknowledged, type Ending, settle } from './ending.ts';

interface Refused {
  readonly pace: Pace;
  readonly retryAfterSeconds?: number;
  /** How the message ends when no time is left for another try; without one, it is tried again whatever the time. */
  readonly settlement?: Settlement;
}

/**
 * For a message that was provably not sent: gives the claim back and queues a copy, so that waiting uses up none of the
 * queue's deliveries (R17). Its waits grow with its attempts at this pace.
 */
export async function tryAgainLater(
  message: DispatchMessage,
  at: string,
  refused: Refused,
  ports: DispatchPorts,
): Promise<Ending> {
  const delaySeconds = delaySecondsOf(message, refused, ports);
  const copy = { ...message, ...withTry(message, refused.pace) };
  if (refused.settlement !== undefined && ports.nowMs() + delaySeconds * 1_000 >= retryDeadlineMs(copy)) {
    return await settle(message, at, refused.settlement, ports);
  }
  return await giveBack(copy, at, { delaySeconds, code: refused.pace }, ports);
}

/** The same before anything was claimed. */
export async function tryUnclaimedLater(message: DispatchMessage, pace: Pace, ports: DispatchPorts): Promise<Ending> {
  const wait = { delaySeconds: delaySecondsOf(message, { pace }, ports), code: pace };
  return await queueCopy({ ...message, ...withTry(message, pace) }, wait, ports);
}

function delaySecondsOf(message: DispatchMessage, refused: Refused, ports: DispatchPorts): number {
  return retryDelaySeconds({ ...refused, attempt: triesOf(message, refused.pace) }, ports.random());
}

interface Wait {
  readonly delaySeconds: number;
  /** Why, for the log. */
  readonly code: string;
}

/**
 * Gives the claim back, then queues the copy. The copy comes last: a crash before it leaves the original, one after it
 * leaves both, and the claim lets one of them send.
 */
export async function giveBack(copy: DispatchMessage, at: string, wait: Wait, ports: DispatchPorts): Promise<Ending> {
  await ports.claims.release(keyOf(copy), at).catch((error: unknown) => {
    // The copy will find the claim, wait it out and end unknown. Without a copy the original would: no worse.
    ports.log('dispatch.release_failed', { dispatchId: dispatchIdOf(copy), error: nameOf(error) });
  });
  return await queueCopy(copy, wait, ports);
}

async function queueCopy(copy: DispatchMessage, { delaySeconds, code }: Wait, ports: DispatchPorts): Promise<Ending> {
  await postponeCopy(copy, delaySeconds, ports);
  ports.log('dispatch.retry', { dispatchId: dispatchIdOf(copy), attempt: copy.attempt, code });
  return acknowledged;
}

/** Queues a message for its time, which has not come: no try has failed. One that expires before is looked at then. */
export async function postponeCopy(
  message: DispatchMessage,
  delaySeconds: number,
  ports: DispatchPorts,
): Promise<Ending> {
  const { expiresAtMs = Number.POSITIVE_INFINITY } = message;
  const untilExpirySeconds = Math.max(0, Math.ceil((expiresAtMs - ports.nowMs()) / 1_000));
  await ports.queue.sendLater(message, Math.min(maxDelaySeconds, untilExpirySeconds, delaySeconds));
  return acknowledged;
}
