import { Refusal } from '../../http/refusal.ts';

/** An endpoint answers by itself after 25 s (lib/http/endpoint.ts); storing the result takes the difference. */
const wholeMs = 21_000;
/** Media leave this time to the call that creates or edits. */
const reservedMs = 8_000;
const leastForMediaMs = 1_000;
const leastForCallMs = 5_000;

/** Returns the time left in ms. Refuses with 502 when it is too little to begin. */
export interface RequestTime {
  readonly forMedia: () => number;
  readonly forCall: () => number;
}

/**
 * One time budget for all outside calls of a creation or an edit (R6). It refuses before the change, so that no
 * template appears after the gateway's time-out.
 */
export function requestTime(nowMs: () => number, startedAtMs: number): RequestTime {
  const left = (untilMs: number, leastMs: number) => {
    const leftMs = startedAtMs + untilMs - nowMs();
    if (leftMs >= leastMs) return leftMs;
    throw new Refusal('platform_unreachable', 'too little time was left for the platform; nothing was changed there');
  };
  return {
    forMedia: () => left(wholeMs - reservedMs, leastForMediaMs),
    forCall: () => left(wholeMs, leastForCallMs),
  };
}
