import { Refusal } from '../../http/refusal.ts';

/** An endpoint answers by itself after 25 s (lib/http/endpoint.ts); the difference is for storing what came of it. */
const wholeMs = 21_000;
/** Kept for the call that creates or edits: media never use it up. */
const reservedMs = 8_000;
const leastForMediaMs = 1_000;
const leastForCallMs = 5_000;

/** The time that is left at the moment of asking, in ms; refuses with 502 when it is too little to begin with. */
export interface RequestTime {
  /** For downloads and uploads. */
  readonly forMedia: () => number;
  /** For the one call that creates or edits. */
  readonly forCall: () => number;
}

/**
 * One budget for all that a creation or an edit does outside (R6), so that the gateway never gives up on a request whose
 * template then comes into being: who finds too little time left refuses while nothing has been created or changed.
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
