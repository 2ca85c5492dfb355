import { errorName } from '../../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { answeringSlowly, type KnownPace, recipientHashOf, slowedDown, withBlocked } from './known-pace.ts';
import type { KnownPaces } from './known-pace-store.ts';
import { type Pace, retryDelaySeconds } from './retry-delay.ts';

interface PacedNumber {
  readonly phoneNumberId: string;
  readonly limitPerSecond: number;
}

interface LearningPorts {
  readonly paces: Pick<KnownPaces, 'change'>;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** One run's calls teach the pace of numbers. Failures are only logged. */
export interface LearningPace {
  /** The number is at its limit: slows it down, once a run. */
  slowDown(number: PacedNumber): Promise<void>;
  /** A call to the number waits long for its answer; noted once a run. */
  awaited(number: Pick<PacedNumber, 'phoneNumberId'>): Promise<void>;
  /** The platform refused a message to that person for now. `attempt` counts earlier refused tries. */
  refused(
    number: PacedNumber,
    refusal: { readonly to?: string | undefined; readonly pace: Pace; readonly attempt: number },
  ): Promise<void>;
}

export function learningPace(ports: LearningPorts): LearningPace {
  const slowed = new Map<string, Promise<void>>();
  const awaited = new Map<string, Promise<void>>();
  const change = async (
    { phoneNumberId }: Pick<PacedNumber, 'phoneNumberId'>,
    to: (pace: KnownPace, atMs: number) => KnownPace,
  ) => {
    try {
      await ports.paces.change(phoneNumberId, (pace) => to(pace, ports.nowMs()));
    } catch (error) {
      ports.log('send.pace_failed', { count: 1, error: errorName(error) });
    }
  };
  const slowDown = (number: PacedNumber) => {
    const { phoneNumberId, limitPerSecond } = number;
    const known = slowed.get(phoneNumberId);
    if (known !== undefined) return known;
    const slower = change(number, (pace, atMs) => slowedDown(pace, limitPerSecond, atMs));
    slowed.set(phoneNumberId, slower);
    return slower;
  };
  return {
    slowDown,
    awaited: async (number) => {
      const noting = awaited.get(number.phoneNumberId) ?? change(number, answeringSlowly);
      awaited.set(number.phoneNumberId, noting);
      await noting;
    },
    refused: async (number, { to, pace, attempt }) => {
      if (pace === 'throughput') await slowDown(number);
      if (pace !== 'pair' || to === undefined) return;
      // Other messages to the person wait as long as this one.
      const waitMs = 1_000 * retryDelaySeconds({ pace, attempt }, 0);
      await change(number, (known, atMs) => withBlocked(known, recipientHashOf(to), atMs + waitMs, atMs));
    },
  };
}
