import { type BacklogEntry, undecidedMs } from '../dispatch/backlog.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { Settlement } from '../dispatch/item.ts';
import { sliceSize, slicesIn } from '../dispatch/slice.ts';
import type { StoredDispatch } from '../dispatch/whole-dispatch.ts';
import { DispatchInHand } from './dispatch-in-hand.ts';
import { progressOf, type SenderPart } from './entry-progress.ts';
import type { SenderPorts } from './sender-ports.ts';

/** `over`: nothing of the dispatch is ever sent. `undecided`: its acceptance is still under way. */
export type Taking = DispatchInHand | 'over' | 'undecided';

/**
 * Takes a dispatch of the backlog in hand: reads item, record and slices, judges its template and its cost, and stops it
 * where they refuse it (D46, D56, D58). Rejects when something cannot be read, or is damaged.
 */
export async function takeDispatch(entry: BacklogEntry, part: SenderPart, ports: SenderPorts): Promise<Taking> {
  const { dispatchId } = entry;
  const { dispatches, process } = ports;
  const { standing, state, dispatch } = await dispatches.find(dispatchId);
  if (standing === 'open' && process.nowMs() - entry.enteredAtMs < undecidedMs) return 'undecided';
  if (standing !== 'begun' && (await dispatches.withdraw(dispatchId)) === 'withdrawn') {
    // Acceptance may have died before it freed what the dispatch had reserved (D58).
    await ports.budgets.release(entry);
    if (standing === 'open') process.log('dispatch.withdrawn', { dispatchId });
    return 'over';
  }
  if (dispatch === undefined) return 'over';
  // Nothing leaves before the client can find it.
  if (entry.parts === undefined) await dispatches.list(dispatch);
  const before = progressOf(entry, part);
  const slices = await dispatches.slicesFrom(dispatchId, before.floor, slicesIn(dispatch.head));
  const limitPerSecond = await ports.limitOf(dispatch);
  const asAccepted = { kind: 'sendable', head: dispatch.head, plan: dispatch.plan, fits: () => true } as const;
  const known = { part, before, limitPerSecond, nowMs: process.nowMs() };
  const hand = new DispatchInHand(entry, { dispatch, state, slices }, asAccepted, known);
  if (state.stop === undefined) await judge(hand, ports);
  return hand;
}

/** Judges a dispatch by its template and prices of now, and stops it where they refuse it. */
export async function judge(hand: DispatchInHand, ports: SenderPorts): Promise<void> {
  const { dispatch } = hand;
  const judgedMs = ports.process.nowMs();
  const judged = await ports.judge(dispatch);
  if (judged.kind === 'refused') return await stopInHand(hand, judged.stop, ports);
  const tooDear = await ports.costStop({ dispatch, head: judged.head, rests: restsOf(hand, dispatch.head) });
  if (tooDear !== undefined) return await stopInHand(hand, tooDear, ports);
  // What is found unchanged is as good as judged: a later review alone outdates it.
  hand.judgedAgain({ ...judged, judgedMs });
}

/** An acceptance mostly decides within milliseconds; one that is slow is asked for ever more rarely. */
export function askedAgainMs({ enteredAtMs }: BacklogEntry, nowMs: number): number {
  return nowMs + Math.max(250, (nowMs - enteredAtMs) / 2);
}

function restsOf(hand: DispatchInHand, { total }: DispatchHead) {
  return hand.idle.map(({ slice }) => ({
    from: slice * sliceSize,
    until: Math.min(total, (slice + 1) * sliceSize),
  }));
}

/** Stops a dispatch unless it is stopped already. Rejects when the store cannot be reached. */
export async function stopInHand(hand: DispatchInHand, settlement: Settlement, ports: SenderPorts): Promise<void> {
  const { head }: StoredDispatch = hand.dispatch;
  const own = { ...settlement, atMs: ports.process.nowMs() };
  const isFirst = await ports.states.stop(head, own);
  if (isFirst) ports.process.log('dispatch.stopped', { dispatchId: head.dispatchId, code: own.code });
  const { state } = await ports.dispatches.find(head.dispatchId);
  hand.state = state;
}
