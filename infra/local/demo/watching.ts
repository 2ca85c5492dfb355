import { setTimeout as pause } from 'node:timers/promises';

export interface WatchOptions<Seen> {
  readonly look: () => Promise<Seen>;
  readonly isOver: (seen: Seen) => boolean;
  /** What changes while anything moves. */
  readonly sign: (seen: Seen) => unknown;
  readonly everyMs: number;
  /** Longest time without a change: what is slow is watched for as long as it moves. */
  readonly quietLimitMs: number;
  readonly signal: AbortSignal;
}

/** Looks again and again until it is over, or nothing has moved for the limit; returns what was seen last. */
export async function watched<Seen>(options: WatchOptions<Seen>): Promise<Seen> {
  const { look, isOver, sign, everyMs, quietLimitMs, signal } = options;
  let [last, movedMs] = ['', performance.now()];
  for (;;) {
    const seen = await look();
    const [current, nowMs] = [JSON.stringify(sign(seen)), performance.now()];
    if (current !== last) [last, movedMs] = [current, nowMs];
    if (isOver(seen) || nowMs - movedMs > quietLimitMs) return seen;
    await pause(everyMs, undefined, { signal });
  }
}
