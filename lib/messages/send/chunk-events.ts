import type { ServiceEvent } from '../../webhooks/event.ts';
import type { ChunkRecipient, QueuedChunk } from '../dispatch/chunk.ts';
import type { Outcome, Slice } from '../dispatch/slice.ts';
import type { ChunkEnding } from './claims/run-chunk.ts';
import { completedEvent } from './completed-event.ts';
import { erased } from './excluded-recipients.ts';
import { messageEvent, outcomeEvent } from './message-event.ts';

/**
 * Returns events about endings of a chunk (D29, D34), and about completion of a straight dispatch (D41). Erased people
 * have no address in them (D60).
 */
export function eventsOfEndings(
  chunk: QueuedChunk,
  endings: readonly ChunkEnding[],
  { slices, nowMs }: { readonly slices: readonly Slice[]; readonly nowMs: number },
): ServiceEvent[] {
  const outcomes = endings.flatMap(({ recipient, outcome }) => eventOf(chunk, recipient, { outcome, nowMs }) ?? []);
  const completed = chunk.alone ? slices.flatMap((slice) => completedBy(chunk, slice, nowMs) ?? []) : [];
  return [...outcomes, ...completed].map((event) => ({ ...event, correlationId: chunk.correlationId }));
}

function eventOf(
  chunk: QueuedChunk,
  { index, to }: ChunkRecipient,
  { outcome, nowMs }: { readonly outcome: Outcome; readonly nowMs: number },
): ServiceEvent | undefined {
  if (outcome.state === 'again') return undefined;
  const isErased = outcome.state === erased.state && outcome.code === erased.code;
  const message = { ...chunk, index, to: isErased ? undefined : to };
  if (outcome.state !== 'sent') return outcomeEvent(message, outcome, nowMs);
  const { held, platformMessageId } = outcome;
  if (held === undefined) return undefined;
  const known = platformMessageId === undefined ? {} : { platformMessageId };
  return messageEvent('message.held', message, { timestampMs: nowMs, code: held, ...known });
}

function completedBy(chunk: QueuedChunk, slice: Slice, nowMs: number): ServiceEvent | undefined {
  const counts: Record<string, number> = {};
  for (const outcome of slice.outcomes) {
    if (outcome === undefined || outcome.state === 'again') return undefined;
    const state = outcome.state === 'sent' && outcome.held !== undefined ? 'held' : outcome.state;
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return completedEvent(chunk, counts, nowMs);
}
