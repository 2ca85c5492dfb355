import type { NumberPace } from './number-pace.ts';

/*
 * How long before its slot a message is to come out of its queue. Its worker waits for the rest of that time and is paid for it,
 * so as late as is safe; but one that comes behind its slot costs a slot. How exactly a queue keeps its delays nobody
 * says, so each number learns it: every message that is queued makes the lead a bit shorter, every batch that comes late a
 * lot longer. It settles where one delivery in two hundred comes late.
 */

/** Enough where the queue is punctual: it is polled, the schedule is read, the claim is written 50 ms before the slot. */
const shortestMs = 350;
/** Enough for a queue whose delays end up to a second late; of a number that has not learned yet. */
const longestMs = 1_100;
const longerByMs = 100;
const shorterByMs = 0.05;

/** What SQS allows. */
const longestDelaySeconds = 900;

/** Milliseconds by which deliveries are to come before their slots. */
export function deliveryLeadMs({ leadMs = longestMs }: Pick<NumberPace, 'leadMs'>): number {
  return leadMs;
}

/** With so many messages that wait in a queue for their slots. */
export function withShorterLead(pace: NumberPace, messages: number): NumberPace {
  const leadMs = Math.max(shortestMs, deliveryLeadMs(pace) - shorterByMs * messages);
  return { ...pace, leadMs: Math.round(leadMs * 100) / 100 };
}

/** After a delivery that came behind its slot. */
export function withLongerLead(pace: NumberPace): NumberPace {
  return { ...pace, leadMs: Math.min(longestMs, deliveryLeadMs(pace) + longerByMs) };
}

/** Seconds for which what is due at a time waits in a queue that it is sent to now, to come so long before. */
export function queueDelaySeconds(atMs: number, nowMs: number, leadMs: number): number {
  return Math.min(longestDelaySeconds, Math.max(0, Math.floor((atMs - leadMs - nowMs) / 1_000)));
}

/**
 * Queues delay by whole seconds: the next moment at which what is due at a time can be sent to its queue to come exactly
 * `leadMs` before, within a second from now. Now, when no second is left.
 */
export function queueAtMs(atMs: number, nowMs: number, leadMs: number): number {
  const leftMs = atMs - leadMs - nowMs;
  return leftMs < 1_000 ? nowMs : nowMs + (leftMs % 1_000);
}
