import type { Recipient } from '../job.ts';
import { addresseeOf } from '../request/addressee.ts';

/** A number may write so often to one person before it must wait (FACTS, pair rate). */
const burst = 45;
const spacingMs = 6_000;

/**
 * How long after its wave a recipient of a job must wait because earlier ones of the job are the same person, by its index:
 * 6 s more for each after the first 45. Who need not wait is left out. Only acceptance sees all recipients at once.
 */
export function pairWaitsMs(recipients: readonly Pick<Recipient, 'to'>[]): ReadonlyMap<number, number> {
  const seen = new Map<string, number>();
  const waitsMs = new Map<number, number>();
  for (const [index, { to }] of recipients.entries()) {
    const person = addresseeOf(to);
    const nth = (seen.get(person) ?? 0) + 1;
    seen.set(person, nth);
    if (nth > burst) waitsMs.set(index, (nth - burst) * spacingMs);
  }
  return waitsMs;
}
