import { straightRecipients } from '../dispatch/call-facts.ts';
import type { DispatchHead, Recipient } from '../dispatch/head.ts';
import { pairRateDelaysMs } from '../dispatch/pair-rate-delays.ts';
import { sliceSize } from '../dispatch/slice.ts';
import { bulkEveryMs, capOf, climbStepMs, type KnownPace, perSecondOf } from '../pace/known-pace.ts';
import { everyMsOf } from '../sender/places.ts';
import type { WaitingDispatch } from './waiting-dispatches.ts';

export interface Expected {
  readonly head: Pick<DispatchHead, 'clientId' | 'urgent'>;
  readonly recipients: readonly Pick<Recipient, 'to'>[];
  readonly limitPerSecond: number;
  readonly pace: KnownPace;
  readonly waiting: readonly WaitingDispatch[];
  readonly nowMs: number;
}

/** A sender that works looks at its backlog this often (sender.ts). */
const lookMs = 500;
/** Small requests have the places of a second (places.ts). */
const placesOfMs = 1_000;

/**
 * Returns when the dispatch's last message would leave, if accepted now (D43 to D45): in turns with what the number's
 * backlog has, at a pace that may climb. Assumes that workers keep up.
 */
export function expectedEndMs(dispatch: Expected): number {
  const { recipients, nowMs } = dispatch;
  if (recipients.length <= straightRecipients) return smallEndMs(dispatch, recipients.length);
  const waits = pairRateDelaysMs(recipients);
  const inTurns = endInTurnsMs(dispatch, recipients.length - waits.size);
  return Math.max(inTurns, ...[...waits.values()].map((waitMs) => nowMs + waitMs));
}

/** A small request has places of its own: all while no sender works, else codes some; without, it goes in front. */
function smallEndMs({ head, waiting, limitPerSecond, pace, nowMs }: Expected, count: number): number {
  const everyMs = bulkEveryMs(limitPerSecond, pace, nowMs);
  if (!isSending(waiting, nowMs)) return nowMs + (count - 1) * everyMs;
  const tenthMs = count * everyMsOf('tenth', limitPerSecond, pace, nowMs);
  if (head.urgent && tenthMs <= placesOfMs) return nowMs + tenthMs;
  return nowMs + lookMs + 2 * count * everyMs;
}

function isSending(waiting: readonly WaitingDispatch[], nowMs: number): boolean {
  return waiting.some(({ dueMs }) => dueMs <= nowMs);
}

interface Sharing {
  readonly clientId: number;
  readonly dueMs: number;
  left: number;
}

/** Clients take turns, and within a client its dispatches; a newcomer is next, once, with a slice (served-least.ts). */
function endInTurnsMs({ head, waiting, limitPerSecond, pace, nowMs }: Expected, count: number): number {
  const others = waiting.filter(({ isFront }) => !isFront);
  const isNewcomer = others.every(({ clientId, dueMs }) => clientId !== head.clientId || dueMs > nowMs);
  const ofFront = waiting.filter(({ isFront, dueMs }) => isFront && dueMs <= nowMs);
  // These turns come first.
  const first = ofFront.reduce((sum, { recipients }) => sum + recipients, isNewcomer ? Math.min(count, sliceSize) : 0);
  const own: Sharing = {
    clientId: head.clientId,
    dueMs: nowMs,
    left: count - (isNewcomer ? Math.min(count, sliceSize) : 0),
  };
  const sharing = [own, ...others.map(({ clientId, dueMs, recipients }) => ({ clientId, dueMs, left: recipients }))];
  const everyMsAt = (afterMs: number) => bulkEveryMs(limitPerSecond, pace, nowMs + afterMs);
  // Times since 1970 have no room for a small part of a turn.
  let afterMs = first * everyMsAt(0) + (isSending(waiting, nowMs) ? lookMs : 0);
  while (own.left > 0) {
    const working = sharing.filter(({ left, dueMs }) => left > 0 && dueMs <= nowMs + afterMs);
    const shares = sharesOf(working);
    const everyMs = everyMsAt(afterMs);
    const untilMs = Math.min(
      ...working.map((each) => afterMs + (each.left / (shares.get(each) ?? 1)) * everyMs),
      ...sharing.filter(({ dueMs }) => dueMs > nowMs + afterMs).map(({ dueMs }) => dueMs - nowMs),
      paceChangesMs(limitPerSecond, pace, nowMs + afterMs) - nowMs,
    );
    const turns = (untilMs - afterMs) / everyMs;
    for (const each of working) {
      const left = each.left - turns * (shares.get(each) ?? 1);
      each.left = left < leastLeft ? 0 : left;
    }
    afterMs = untilMs;
  }
  // The last message leaves at the beginning of its turn.
  return nowMs + Math.max(0, afterMs - everyMsAt(afterMs));
}

/** Quotients are rounded: less than this is nothing. */
const leastLeft = 0.001;

function sharesOf(working: readonly Sharing[]): ReadonlyMap<Sharing, number> {
  const byClient = [...Map.groupBy(working, ({ clientId }) => clientId).values()];
  return new Map(byClient.flatMap((own) => own.map((each) => [each, 1 / (byClient.length * own.length)] as const)));
}

/** Returns when the pace is another one: a learned one climbs, and a cap ends. */
function paceChangesMs(limitPerSecond: number, pace: KnownPace, atMs: number): number {
  const cap = capOf(pace, atMs);
  if (perSecondOf(limitPerSecond, pace, atMs) < Math.min(limitPerSecond, cap ?? limitPerSecond))
    return atMs + climbStepMs;
  return cap === undefined ? Number.POSITIVE_INFINITY : (pace.capped?.untilMs ?? Number.POSITIVE_INFINITY);
}
