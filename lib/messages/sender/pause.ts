import type { DispatchItemState, DispatchParked } from '../dispatch/item.ts';
import { joinedState, parkEndMs } from '../dispatch/item-state.ts';
import type { DispatchItemStates } from '../dispatch/item-store.ts';
import { holdableOf, type ParkReason, reasonOf } from '../holds/held-dispatch.ts';
import { holdsOn, noAnswerCode } from '../holds/hold.ts';
import { pausedUntilMs } from '../holds/hold-ends.ts';
import { parkedEvent, resumedEvent } from '../send/pause-events.ts';
import type { DispatchInHand } from './dispatch-in-hand.ts';
import { standingOf } from './hand-standing.ts';
import type { NumberView } from './number-view.ts';
import type { SenderPorts } from './sender-ports.ts';

// A sender that finds a dispatch held writes that to its item and tells the client, once. So it does with the end: then
// nothing holds the dispatch, and that is proven (holds/hold-ends.ts).

// The item says what may be untold (item-writes.ts), so the next sender tells it under the same id. `parked` informs
// client and report alone.

/** A shorter outage ends before a client would read about it. */
const toldAfterMs = 30_000;
/** A dispatch of which nothing is due for longer is not told to be held: its refused messages are due sooner. */
const soonMs = 150_000;

export type PausedHand = Pick<DispatchInHand, 'dispatchId' | 'facts' | 'state' | 'rest' | 'nextDueMs'>;

export interface PauseStanding {
  /** The dispatch waits for this. */
  readonly reason?: ParkReason | undefined;
  /** Nothing holds it, and that is proven. */
  readonly isOver: boolean;
}

/** Returns how a pause of the dispatch stands, by what the sender sees. */
export function pauseOf(hand: PausedHand, number: NumberView, nowMs: number): PauseStanding {
  const { facts } = hand;
  const { open } = number.breaker ?? {};
  if (open !== undefined) {
    const isLong = open.sinceMs + toldAfterMs <= nowMs && isSoonDue(hand, nowMs);
    return { reason: isLong ? { code: noAnswerCode, scope: 'platform' } : undefined, isOver: false };
  }
  const holds = number.holdsOf(facts.wabaId);
  const message = holdableOf(facts);
  if (holdsOn(holds, message).length === 0) return { isOver: pausedUntilMs(holds, message) <= nowMs };
  const standing = standingOf(hand, holds, nowMs);
  if (standing.kind !== 'held' || !isSoonDue(hand, nowMs)) return { isOver: false };
  const { scope, hold } = standing.widest;
  return { reason: reasonOf(scope, hold.code), isOver: false };
}

function isSoonDue(hand: PausedHand, nowMs: number): boolean {
  return hand.nextDueMs(nowMs) <= nowMs + soonMs;
}

type PauseStep =
  | { readonly kind: 'park'; readonly reason: ParkReason }
  | { readonly kind: 'tell' | 'resume'; readonly parked: DispatchParked };

/** Returns what is to be done next about a pause, or undefined. A stop ends it untold. */
export function pauseStep(
  { parked, stop }: DispatchItemState,
  { reason, isOver }: PauseStanding,
): PauseStep | undefined {
  if (stop !== undefined) return undefined;
  if (parked === undefined) return reason && { kind: 'park', reason };
  if (parked.untold !== undefined) return { kind: 'tell', parked };
  return isOver ? { kind: 'resume', parked } : undefined;
}

export interface PausePorts extends Pick<SenderPorts, 'events'> {
  readonly states: Pick<DispatchItemStates, 'park' | 'parkTold' | 'resume' | 'unpark'>;
  readonly dispatches: Pick<SenderPorts['dispatches'], 'look'>;
  readonly process: Pick<SenderPorts['process'], 'nowMs' | 'log'>;
}

/**
 * Writes and tells what is to be told of a dispatch's pause, step by step, after a look at what is stored. Rejects when
 * store or queue cannot be reached: another time goes on where this one ended.
 */
export async function tellPause(
  hand: PausedHand & { state: DispatchItemState },
  number: NumberView,
  ports: PausePorts,
  standing = () => pauseOf(hand, number, ports.process.nowMs()),
): Promise<void> {
  await look(hand, number, ports);
  for (;;) {
    const step = pauseStep(hand.state, standing());
    if (step === undefined) return;
    if (!(await taken(step, hand, ports))) return await look(hand, number, ports);
  }
}

/** Ends a pause with its dispatch: what was held has ended. */
export async function endPause(
  hand: PausedHand & { state: DispatchItemState },
  number: NumberView,
  ports: PausePorts,
): Promise<void> {
  await tellPause(hand, number, ports, () => ({ isOver: true }));
}

async function look(
  hand: PausedHand & { state: DispatchItemState },
  number: NumberView,
  { dispatches }: PausePorts,
): Promise<void> {
  const { dispatchId, facts } = hand;
  const seen = await dispatches.look({ wabaId: facts.wabaId, dispatchIds: [dispatchId] });
  number.saw(facts.wabaId, seen.holds);
  hand.state = joinedState(hand.state, seen.dispatches.get(dispatchId) ?? {});
}

/** Returns false when the item has changed meanwhile. */
async function taken(
  step: PauseStep,
  hand: PausedHand & { state: DispatchItemState },
  { states, events, process: { nowMs, log } }: PausePorts,
): Promise<boolean> {
  const { dispatchId, facts } = hand;
  const { clientId } = facts;
  const becomes = (parked: DispatchParked | undefined) => {
    hand.state = { ...hand.state, parked };
    return true;
  };
  if (step.kind === 'park') {
    const parked = { ...step.reason, sinceMs: nowMs() };
    if (!(await states.park(dispatchId, parked))) return false;
    log('dispatch.parked', { dispatchId, clientId, code: parked.code });
    return becomes({ ...parked, untold: 'parked' });
  }
  const { untold, ...parked } = step.parked;
  if (step.kind === 'resume') {
    if (!(await states.resume(dispatchId, parked))) return false;
    log('dispatch.resumed', { dispatchId, clientId });
    return becomes({ ...parked, untold: 'resumed' });
  }
  if (untold === 'resumed') {
    await events.send([resumedEvent(facts, parked, nowMs())]);
    await states.unpark(dispatchId, parked);
    return becomes(undefined);
  }
  await events.send([parkedEvent(facts, { ...parked, untilMs: parkEndMs(parked, facts) })]);
  await states.parkTold(dispatchId, parked);
  return becomes(parked);
}
