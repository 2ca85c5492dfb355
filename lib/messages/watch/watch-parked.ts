import type { DelayedQueue } from '../../aws/sqs-batch.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { EventSink } from '../../webhooks/event.ts';
import { aboutDispatch, type DispatchHead } from '../dispatch/head.ts';
import type { DispatchItemState, DispatchStop } from '../dispatch/item.ts';
import { type Ending, parkDelaySeconds, parkEndMs, pauseFromMs, type Waiting } from '../dispatch/item-state.ts';
import type { DispatchItemStates } from '../dispatch/item-store.ts';
import { afterOpenTimeMs, openingsOfAll } from '../dispatch/lots.ts';
import type { StoredDispatch } from '../dispatch/whole-dispatch.ts';
import { endedByReading, type HeldBy, holdsOn, isProbeOverdue } from '../holds/hold.ts';
import type { HoldsOfWabas } from '../holds/hold-store.ts';
import { parkScopeOf } from '../holds/scope.ts';
import { notApproved } from '../request/parameter-contract.ts';
import { claimLifeMs } from '../send/deadlines.ts';
import { parkedEvent, resumedEvent } from './parked-event.ts';
import { type ReadinessPorts, templateReadiness } from './template-readiness.ts';
import { closedSeconds, type ParkedWatch } from './watch-message.ts';

export interface ParkedPorts extends ReadinessPorts {
  readonly queue: DelayedQueue<ParkedWatch>;
  readonly states: Pick<DispatchItemStates, 'of' | 'stop' | 'resume' | 'endPause'>;
  readonly holds: Pick<HoldsOfWabas, 'find' | 'change'>;
  readonly isDown: () => Promise<boolean>;
  /** Returns undefined for a withdrawn or forgotten dispatch. */
  readonly dispatchOf: (dispatchId: string) => Promise<WatchedDispatch | undefined>;
}

type WatchedDispatch = Pick<StoredDispatch, 'head' | 'lots'>;

interface Ports extends ParkedPorts {
  readonly events: EventSink;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** The platform is asked at least this often: ten dispatches of one template ask ten times. */
const longestQuietMs = 600_000;

/** A resumed dispatch without a sent or refused message counts as going on after this much open time (D56). */
const longestUnprovenMs = 600_000;

/**
 * Looks once at a parked dispatch (D46). The first look notifies the client; later ones resume the dispatch without a
 * hold, stop it when its time is over, or queue another look.
 */
export async function lookAtParked(message: ParkedWatch, ports: Ports): Promise<void> {
  const { dispatchId, clientId, sinceMs } = message;
  const dispatch = await ports.dispatchOf(dispatchId);
  if (dispatch === undefined) {
    ports.log('dispatch.watch_ended', { dispatchId, clientId });
    return;
  }
  const state = (await ports.states.of([dispatchId])).get(dispatchId) ?? {};
  if (state.stop !== undefined) return;
  const { parked } = state;
  if (parked?.sinceMs !== sinceMs) return await lookAtNoLonger(message, { dispatch, state }, ports);
  const waiting = { ...state, parked };
  const fromMs = pauseFromMs(waiting);
  if (message.told?.fromMs !== fromMs) {
    const { code, scope } = parked;
    // Another watcher has announced a pause that began before this waiting.
    if (fromMs === sinceMs) {
      const untilMs = parkEndMs(waiting, endingOf(dispatch));
      await ports.events.send([parkedEvent(notified(dispatch), { ...parked, untilMs })]);
    }
    // Copy and event precede the acknowledgement, so a watcher that dies repeats both. Each announced pause has its end
    // announced, by this watcher or the next.
    return await again({ ...message, told: { fromMs, code, scope } }, dispatch, ports);
  }
  // Resumption is emitted only after a message was taken: the platform may refuse again within the same pause.
  await lookAtWaiting(message, { dispatch, waiting }, ports);
}

/** The dispatch is not parked yet (and never will be if the parking worker is dead), or was resumed. */
async function lookAtNoLonger(
  message: ParkedWatch,
  { dispatch, state }: { readonly dispatch: WatchedDispatch; readonly state: DispatchItemState },
  ports: Ports,
): Promise<void> {
  const { sinceMs, told } = message;
  const nowMs = ports.nowMs();
  if (told === undefined) {
    if (nowMs < sinceMs + claimLifeMs) await again(message, dispatch, ports);
    return;
  }
  const goesOn = state.pausedFromMs === undefined || state.pausedFromMs > told.fromMs;
  if (goesOn) return await emitResumed(told, dispatch, ports);
  // The pause now belongs to the next watcher, which announces its end.
  if (state.parked !== undefined) return;
  const { resumedMs = nowMs } = message;
  if (nowMs < believedFromMs(resumedMs, dispatch)) return await again({ ...message, resumedMs }, dispatch, ports);
  // If it is parked again, it has another watcher.
  if (await ports.states.endPause(dispatch.head.dispatchId)) await emitResumed(told, dispatch, ports);
}

/** Closed time proves nothing: otherwise a hold of days would end its pause each night and begin a new one each day. */
function believedFromMs(resumedMs: number, { lots }: WatchedDispatch): number {
  if (lots === undefined) return resumedMs + longestUnprovenMs;
  return afterOpenTimeMs(openingsOfAll(lots), resumedMs, longestUnprovenMs);
}

async function lookAtWaiting(
  message: ParkedWatch,
  { dispatch, waiting }: { readonly dispatch: WatchedDispatch; readonly waiting: Waiting },
  ports: Ports,
): Promise<void> {
  const nowMs = ports.nowMs();
  const stop = (state: DispatchStop['state'], code: string, reason?: string) =>
    stopDispatch(dispatch, { state, code, reason, atMs: nowMs }, ports);
  if (nowMs >= parkEndMs(waiting, endingOf(dispatch))) return await stop('expired', waiting.parked.code);
  const on = await holdsOnDispatch(dispatch.head, ports);
  if (on === undefined) return await again(message, dispatch, ports);
  const ofTemplate = on.find(({ scope }) => parkScopeOf(scope) === 'template');
  if (ofTemplate === undefined) {
    const goesOn = on.every(({ hold }) => isProbeOverdue(hold, nowMs));
    return await (goesOn ? resume(message, { dispatch, waiting }, ports) : again(message, dispatch, ports));
  }
  if (nowMs < mayResumeFromMs(waiting)) return await again(message, dispatch, ports);
  const mayAsk = nowMs >= nextQuestionMs(message, nowMs);
  const sinceMs = Math.max(message.sinceMs, ofTemplate.hold.sinceMs);
  const { scope, hold } = ofTemplate;
  const standing = await templateReadiness(dispatch.head, { sinceMs, nowMs, mayAsk }, ports);
  if (standing === 'disabled') return await stop('failed', '132016');
  if (standing === 'gone') return await stop('failed', hold.byReading ? 'template_deleted' : '132001');
  // A paused template that is rejected may be approved again; a review that rejects it has ended.
  if (standing === 'rejected' && hold.byReading)
    return await stop('failed', 'template_changed', notApproved('REJECTED'));
  if (standing === 'back') {
    const { wabaId } = dispatch.head;
    await ports.holds.change(wabaId, endedByReading(scope, hold.sinceMs, ports.nowMs()));
    ports.log('hold.ended', { wabaId, scope });
    if (on.length === 1) return await resume(message, { dispatch, waiting }, ports);
  }
  await again({ ...message, ...(mayAsk ? { askedAtMs: nowMs } : {}) }, dispatch, ports);
}

/** Returns the holds on a dispatch's messages, the widest first, or undefined while the whole platform is down. */
async function holdsOnDispatch(head: DispatchHead, { holds, isDown }: Ports): Promise<HeldBy[] | undefined> {
  if (await isDown()) return undefined;
  return holdsOn(await holds.find(head.wabaId), head);
}

/**
 * Resumes a dispatch without holds, or one whose overdue holds no message probes because none is claimed.
 * The next look sees another run's result.
 */
async function resume(
  message: ParkedWatch,
  { dispatch, waiting }: { readonly dispatch: WatchedDispatch; readonly waiting: Waiting },
  ports: Ports,
): Promise<void> {
  const { dispatchId, clientId } = dispatch.head;
  const resumed = await ports.states.resume(dispatchId, waiting.parked);
  if (resumed) ports.log('dispatch.resumed', { dispatchId, clientId });
  await again({ ...message, ...(resumed ? { resumedMs: ports.nowMs() } : {}) }, dispatch, ports);
}

/**
 * A template that refused again after approval is trusted more slowly: after as long as the pause lasted before, ten
 * minutes at most.
 */
function mayResumeFromMs(waiting: Waiting): number {
  const { sinceMs } = waiting.parked;
  return sinceMs + Math.min(longestQuietMs, sinceMs - pauseFromMs(waiting));
}

/** The interval of questions grows to ten minutes; usually a hint comes first (D42). */
function nextQuestionMs({ sinceMs, askedAtMs }: ParkedWatch, nowMs: number): number {
  return askedAtMs === undefined ? sinceMs : askedAtMs + Math.min(longestQuietMs, (nowMs - sinceMs) / 4);
}

async function emitResumed(
  told: NonNullable<ParkedWatch['told']>,
  dispatch: WatchedDispatch,
  ports: Ports,
): Promise<void> {
  await ports.events.send([resumedEvent(notified(dispatch), { ...told, sinceMs: told.fromMs }, ports.nowMs())]);
}

async function stopDispatch({ head }: WatchedDispatch, stop: DispatchStop, ports: Ports): Promise<void> {
  const { dispatchId, clientId } = head;
  if (!(await ports.states.stop(head, stop))) return;
  ports.log('dispatch.stopped', { dispatchId, clientId, code: stop.code });
}

/** Queues the next look, not before the dispatch's next opening (D56). */
async function again(message: ParkedWatch, { lots }: WatchedDispatch, ports: Ports): Promise<void> {
  const nowMs = ports.nowMs();
  const delaySeconds = parkDelaySeconds(nowMs - (message.resumedMs ?? message.sinceMs));
  await ports.queue.sendLater(message, Math.max(delaySeconds, closedSeconds(lots, nowMs)));
}

function notified({ head }: WatchedDispatch) {
  return { ...head, about: aboutDispatch(head) };
}

function endingOf({ head: { expiresAtMs }, lots }: WatchedDispatch): Ending {
  return { expiresAtMs, lots };
}
