import type { ServiceEvent } from '../../webhooks/event.ts';
import type { CallFacts, TriedRecipient } from '../dispatch/call-facts.ts';
import { isResolved, type Slice, sliceAt } from '../dispatch/slice.ts';
import { completedEvent } from './completed-event.ts';
import { erased } from './excluded-recipients.ts';
import { messageEvent, outcomeEvent } from './message-event.ts';

export interface RecipientEnding {
  readonly recipient: TriedRecipient;
  readonly outcome: Exclude<Slice['outcomes'][number], undefined>;
}

/**
 * Returns events about endings of a try (D29, D34), and about completion of a small request (D41). Erased people have
 * no address in them (D60).
 */
export function eventsOfEndings(
  callFacts: CallFacts,
  endings: readonly RecipientEnding[],
  { slices, nowMs }: { readonly slices: readonly Slice[]; readonly nowMs: number },
): ServiceEvent[] {
  const triedAtMs = new Map(slices.map(({ key, atMs }) => [key.slice, atMs]));
  const outcomes = endings.flatMap((ending) => {
    const { outcome, recipient } = ending;
    // As in the report, so that `message.resolved` is later in time, even if it is queued first (D29).
    const timestampMs = outcome.state === 'unknown' ? triedAtMs.get(sliceAt(recipient.index)) : undefined;
    return eventsOf(callFacts, ending, timestampMs ?? nowMs);
  });
  const completed = callFacts.alone ? slices.flatMap((slice) => completedBy(callFacts, slice, nowMs) ?? []) : [];
  return [...outcomes, ...completed].map((event) => ({ ...event, correlationId: callFacts.correlationId }));
}

function eventsOf(callFacts: CallFacts, { recipient, outcome }: RecipientEnding, timestampMs: number): ServiceEvent[] {
  if (outcome.state === 'again') return [];
  const { index, to } = recipient;
  const isErased = outcome.state === erased.state && outcome.code === erased.code;
  const message = { ...callFacts, index, to: isErased ? undefined : to };
  if (outcome.state !== 'sent') {
    const told = outcomeEvent(message, outcome, timestampMs);
    return told === undefined ? [] : [told];
  }
  const { held, platformMessageId } = outcome;
  const facts = { timestampMs, platformMessageId };
  return [
    ...(isResolved(outcome) ? [messageEvent('message.resolved', message, facts)] : []),
    ...(held === undefined ? [] : [messageEvent('message.held', message, { ...facts, code: held })]),
  ];
}

function completedBy(callFacts: CallFacts, slice: Slice, nowMs: number): ServiceEvent | undefined {
  const counts: Record<string, number> = {};
  for (const outcome of slice.outcomes) {
    if (outcome === undefined || outcome.state === 'again') return undefined;
    const state = outcome.state === 'sent' && outcome.held !== undefined ? 'held' : outcome.state;
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return completedEvent(callFacts, counts, nowMs);
}
