import { present } from '../../keys/present.ts';
import { nameOf } from '../../observe/name-of.ts';
import { type DispatchMessage, dispatchIdOf } from '../job.ts';
import { byJobState, settlementOf } from '../job-state.ts';
import { triesOf } from '../pace/pacing.ts';
import type { Attempt, BatchPorts } from './batch-ports.ts';
import { hasBegun } from './begun-job.ts';
import { keyOf, lateness, provenByReceipt, type Settlement, sendBudgetMs } from './claim.ts';
import type { DispatchPorts } from './dispatch-ports.ts';
import { acknowledged, deliverAgain, type Ending, endedTaken, settle } from './ending.ts';
import type { ExpectedAsker } from './gathered-job-states.ts';
import { giveBack, postponeCopy, tryAgainLater, tryUnclaimedLater } from './later.ts';
import type { Handover } from './platform-messages.ts';
import { isProvenAfterRefusal } from './proof.ts';
import type { Placed } from './slots.ts';
import { takeClaim } from './take-claim.ts';
import { type Verdict, verdictOn } from './verdict.ts';

/** What the platform calls a message that it took and holds back (platform reference, 2.10 and 4.1; D39). */
const heldStatuses: ReadonlySet<string> = new Set(['held_for_quality_assessment', 'paused']);

/**
 * Works off one delivery of a message that has been given its place in time: queues it again when that is far, else claims
 * it shortly before, and calls the platform in the millisecond of its slot. A message that somebody has claimed before is
 * left to them. What became of it is written, unless it was sent: that is for the batch record of the run. Throws when a
 * write of the store fails; the message is to be delivered again then.
 */
export async function dispatchMessage(placed: Placed, attempt: Attempt, ports: BatchPorts): Promise<Ending> {
  const { message } = placed;
  if (placed.kind === 'later') return await postponeCopy(message, placed.delaySeconds, ports);
  if (placed.kind === 'unplaced') return await tryUnclaimedLater(message, 'claims', ports);
  if (placed.kind === 'slot') {
    // In the time that there is: what is read only when the slot has come makes its call, and those behind it, late together.
    void ports.ready(message);
    await waitUntil(placed.claimAtMs, ports);
  }
  if (ports.remainingMs() < sendBudgetMs) return deliverAgain;
  const asker = ports.jobs.expect();
  try {
    if (placed.kind === 'slot') {
      const { slotMs, untilMs } = placed;
      const ending = await takeClaim(message, { ...attempt, asker, settled: undefined }, ports);
      return ending ?? (await sendClaimed(message, { at: attempt.at, slotMs, untilMs, asker }, ports));
    }
    const settled = await settlementWithoutSlot(placed, asker, ports);
    if (settled === undefined) return acknowledged;
    return (await takeClaim(message, { ...attempt, asker, settled }, ports)) ?? deliverAgain;
  } finally {
    asker.leave();
  }
}

/**
 * What needs no slot is claimed settled, at the price of one write: so how its job stands is read before. Undefined when it
 * was taken back. A straight job is stopped only once it has begun.
 */
async function settlementWithoutSlot(
  placed: Extract<Placed, { kind: 'late' | 'stopped' }>,
  asker: ExpectedAsker,
  ports: BatchPorts,
): Promise<Settlement | undefined> {
  const { message, settlement } = placed;
  if (placed.kind === 'stopped') return settlement;
  const state = await asker.stateOf(message.jobId, ports.nowMs() + shareRequestMs);
  if (!(await hasBegun(message, state, ports))) return undefined;
  return state.stop === undefined ? settlement : settlementOf(state.stop);
}

interface Claimed {
  readonly at: string;
  readonly slotMs: number;
  readonly untilMs: number;
  readonly asker: ExpectedAsker;
}

/** Everything that may still keep a claimed message from leaving, and then the call. */
async function sendClaimed(message: DispatchMessage, claimed: Claimed, ports: BatchPorts): Promise<Ending> {
  const { at, slotMs, untilMs } = claimed;
  const byJob = await whatItsJobSays(message, claimed, ports);
  if (byJob.ending !== undefined) return byJob.ending;
  await Promise.all([waitUntil(slotMs, ports), ports.ready(message)]);
  const notNow = await keptBack(message, at, ports);
  if (notNow !== undefined) return notNow;
  const isLate = ports.nowMs() > untilMs;
  const ending = isLate ? await sendInNextSlot(message, at, ports) : await handOver(message, at, ports);
  return byJob.wasPaused && ending.taken !== undefined ? { ...ending, endsPause: true } : ending;
}

/** So many slots are taken under one claim, until it is given back. */
const mostSlotsOfClaim = 10;

/**
 * Keeps the claim: where the store is slow, giving it back and claiming anew would miss the next slot as well. What its
 * job says was read after the claim, and is read no more (D53).
 */
async function sendInNextSlot(missed: DispatchMessage, at: string, ports: BatchPorts): Promise<Ending> {
  let message = missed;
  for (let taken = 1; ; taken += 1) {
    ports.log('dispatch.slot_missed', { dispatchId: dispatchIdOf(message) });
    message = { ...message, missedSlots: (message.missedSlots ?? 0) + 1 };
    if (taken === mostSlotsOfClaim) return await giveBack(message, at, { delaySeconds: 0, code: 'slot' }, ports);
    const placed = await ports.missed.placeAgain(message);
    message = placed.message;
    if (placed.kind === 'unplaced') return await tryAgainLater(message, at, { pace: 'claims' }, ports);
    if (placed.kind === 'later') {
      return await giveBack(message, at, { delaySeconds: placed.delaySeconds, code: 'slot' }, ports);
    }
    if (placed.kind !== 'slot') return await settle(message, at, placed.settlement, ports);
    await waitUntil(placed.slotMs, ports);
    const notNow = await keptBack(message, at, ports);
    if (notNow !== undefined) return notNow;
    if (ports.nowMs() <= placed.untilMs) return await handOver(message, at, ports);
  }
}

/** Claiming and waiting may have taken seconds. */
async function keptBack(message: DispatchMessage, at: string, ports: BatchPorts): Promise<Ending | undefined> {
  if (ports.remainingMs() < sendBudgetMs) {
    await ports.claims.release(keyOf(message), at);
    return deliverAgain;
  }
  const late = lateness(message, ports.nowMs());
  return late === undefined ? undefined : await settle(message, at, late, ports);
}

/** How long before its slot, and at least how long after its claim, a message waits for those that are claimed beside it. */
const statesBeforeSlotMs = 15;
const shareRequestMs = 25;

async function whatItsJobSays(
  message: DispatchMessage,
  { at, asker, slotMs }: Claimed,
  ports: BatchPorts,
): Promise<{ readonly ending: Ending } | { readonly ending?: never; readonly wasPaused: boolean }> {
  const byMs = Math.max(slotMs - statesBeforeSlotMs, ports.nowMs() + shareRequestMs);
  try {
    const state = await asker.stateOf(message.jobId, byMs);
    if (!(await hasBegun(message, state, ports))) return { ending: acknowledged };
    const found = byJobState(state, message, ports.nowMs());
    if (found.kind === 'send') return { wasPaused: state.pausedFromMs !== undefined };
    if (found.kind === 'settle') return { ending: await settle(message, at, found.settlement, ports) };
    return { ending: await waitParked(message, at, found.delaySeconds, ports) };
  } catch (error) {
    ports.log('dispatch.job_not_read', { dispatchId: dispatchIdOf(message), error: nameOf(error) });
    return { ending: await tryAgainLater(message, at, { pace: 'claims' }, ports) };
  }
}

/** Gives the claim back. The slot goes by; it takes the next one when its job goes on. */
async function waitParked(message: DispatchMessage, at: string, delaySeconds: number, ports: BatchPorts) {
  const copy = { ...message, hasWaited: true } as const;
  return await giveBack(copy, at, { delaySeconds, code: 'parked' }, ports);
}

async function waitUntil(atMs: number, { nowMs, pause }: DispatchPorts): Promise<void> {
  const waitMs = atMs - nowMs();
  if (waitMs > 0) await pause(waitMs);
}

async function handOver(message: DispatchMessage, at: string, ports: BatchPorts): Promise<Ending> {
  let handover: Handover;
  try {
    handover = await ports.send(message);
  } catch (error) {
    return await afterFailure(error, message, at, ports);
  }
  const dispatchId = dispatchIdOf(message);
  const { platformMessageId, messageStatus: status = 'accepted', usagePercent = 0 } = handover;
  if (usagePercent >= 100) await ports.learning.slowDown(message);
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

async function afterFailure(error: unknown, message: DispatchMessage, at: string, ports: BatchPorts): Promise<Ending> {
  const verdict = verdictOn(error);
  if (verdict.kind === 'settle') return await afterRefusal(verdict, message, at, ports);
  const to = message.request.to ?? message.request.recipient ?? '';
  const refusal = { to, pace: verdict.pace, attempt: triesOf(message, verdict.pace) };
  const learned = ports.learning.refused(message, refusal);
  if (await isProvenAfterRefusal(message, ports)) return await settle(message, at, provenByReceipt, ports);
  if (verdict.pace === 'credential') {
    ports.log('dispatch.credential_refused', { dispatchId: dispatchIdOf(message), clientId: message.clientId });
  }
  await learned;
  return await tryAgainLater(message, at, verdict, ports);
}

/** A refusal of the template concerns the whole job (D46): all of it waits, or ends. Every other one this message alone. */
async function afterRefusal(
  { settlement, refusedCode }: Extract<Verdict, { kind: 'settle' }>,
  message: DispatchMessage,
  at: string,
  ports: BatchPorts,
): Promise<Ending> {
  const { reason } = settlement;
  const held = await ports.holds.byRefusal(message, { code: refusedCode, ...present({ reason }) });
  if (held?.kind !== 'wait') return await settle(message, at, held?.settlement ?? settlement, ports);
  if (await isProvenAfterRefusal(message, ports)) return await settle(message, at, provenByReceipt, ports);
  return await waitParked(message, at, held.delaySeconds, ports);
}
