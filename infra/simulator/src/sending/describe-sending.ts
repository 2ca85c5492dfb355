import type { World } from '../state.ts';
import { messagesPerSecond } from '../wabas.ts';
import type { NumberSends } from './sending-record.ts';

const secondMs = 1_000;

/**
 * Answers `GET /_control/sending`: each number's limit, and its calls, accepted and throttled sends, in all, by second,
 * and at the peak of a sliding second; then at most `limit` message ids accepted more than once.
 */
export function describeSending(world: World, limit: number): unknown {
  const duplicates = world.sending.duplicates();
  return {
    data: [...world.numbers.values()].map((number) => {
      const sends = world.sending.sendsOf(number.id);
      return {
        phone_number_id: number.id,
        limit_per_second: messagesPerSecond(number),
        calls: sends.callsMs.length,
        accepted: sends.acceptedMs.length,
        throttled: sends.throttledMs.length,
        most_calls_in_a_second: mostInAnySecond(sends.callsMs),
        most_accepted_in_a_second: mostInAnySecond(sends.acceptedMs),
        seconds: secondsOf(sends),
      };
    }),
    duplicates: {
      total: duplicates.length,
      data: duplicates.slice(0, limit).map(([messageId, accepted]) => ({ message_id: messageId, accepted })),
    },
    without_message_id: world.sending.withoutMessageId,
  };
}

/** Returns the peak of a sliding window of one second; `timesMs` must ascend. */
export function mostInAnySecond(timesMs: readonly number[]): number {
  let first = 0;
  let most = 0;
  for (const [last, atMs] of timesMs.entries()) {
    while (atMs - (timesMs[first] ?? atMs) >= secondMs) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

function secondsOf({ callsMs, acceptedMs, throttledMs }: NumberSends) {
  const seconds = new Map<number, { calls: number; accepted: number; throttled: number }>();
  const count = (timesMs: readonly number[], what: 'calls' | 'accepted' | 'throttled') => {
    for (const atMs of timesMs) {
      const second = Math.floor(atMs / secondMs);
      const counts = seconds.get(second) ?? { calls: 0, accepted: 0, throttled: 0 };
      counts[what] += 1;
      seconds.set(second, counts);
    }
  };
  count(callsMs, 'calls');
  count(acceptedMs, 'accepted');
  count(throttledMs, 'throttled');
  return [...seconds]
    .sort(([one], [other]) => one - other)
    .map(([second, counts]) => ({ at: new Date(second * secondMs).toISOString(), ...counts }));
}
