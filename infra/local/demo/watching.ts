import { setTimeout as pause } from 'node:timers/promises';

export interface WatchOptions<Seen> {
  readonly look: () => Promise<Seen>;
  readonly isOver: (seen: Seen) => boolean;
  readonly sign: (seen: Seen) => unknown;
  readonly everyMs: number;
  /** The watch ends after this time without a change; a slow process is watched as long as it moves. */
  readonly quietLimitMs: number;
  readonly signal: AbortSignal;
}

/** Returns the last value when it is over, or when nothing has moved for the limit. */
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
