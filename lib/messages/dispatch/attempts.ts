import { type DispatchMessage, dispatchMessageVersion } from '../job.ts';
import type { Pace } from '../pace/pacing.ts';

/** Attempts of 0.1.0, which told no paces apart: they count for each. */
const everyPace = '*';

/** Tries of a message that ended provably unsent for this reason, so that its waits grow by themselves alone. */
export function attemptsOf({ attempt, attempts }: DispatchMessage, pace: Pace): number {
  return (attempts === undefined ? attempt : (attempts[pace] ?? attempts[everyPace])) ?? 0;
}

/** The message after one more. Their sum is written too: 0.1.0 reads nothing else. */
export function withAttempt(message: DispatchMessage, pace: Pace): DispatchMessage {
  const before = message.attempts ?? (message.attempt === 0 ? {} : { [everyPace]: message.attempt });
  const attempts = { ...before, [pace]: attemptsOf(message, pace) + 1 };
  return { ...message, version: dispatchMessageVersion, attempt: message.attempt + 1, attempts };
}
