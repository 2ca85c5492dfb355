import type { Recipient } from '../job.ts';

/** A number may write so often to one person before it must wait (FACTS, pair rate). */
const burst = 45;
const spacingMs = 6_000;

/**
 * How long after its wave each recipient of a job must wait because earlier ones of the job are the same person, in the
 * order of the recipients: nothing for the first 45, then 6 s more for each.
 */
export function pairWaitsMs(recipients: readonly Pick<Recipient, 'to'>[]): number[] {
  const seen = new Map<string, number>();
  return recipients.map(({ to }) => {
    const nth = (seen.get(to) ?? 0) + 1;
    seen.set(to, nth);
    return Math.max(0, nth - burst) * spacingMs;
  });
}
