import { canonicalNumber } from '../../opt-outs/canonical-number.ts';
import type { Recipient } from './head.ts';

/** The pair rate applies only after this many messages from one number to one person (FACTS, pair rate). */
const burst = 45;
const spacingMs = 6_000;

/**
 * Returns by index 6 s more for each message to one person after the first 45. Only acceptance sees all recipients at
 * once.
 */
export function pairRateDelaysMs(recipients: readonly Pick<Recipient, 'to'>[]): ReadonlyMap<number, number> {
  const waitsMs = new Map<number, number>();
  const people = recipients.map(({ to }) => canonicalNumber(to));
  if (people.length - new Set(people).size < burst) return waitsMs;
  const seen = new Map<string, number>();
  for (const [index, person] of people.entries()) {
    const nth = (seen.get(person) ?? 0) + 1;
    seen.set(person, nth);
    if (nth > burst) waitsMs.set(index, (nth - burst) * spacingMs);
  }
  return waitsMs;
}
